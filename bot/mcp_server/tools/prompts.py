"""The prompt for the main task: send rupiah."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field


def add_prompts(server: MCPServer) -> None:
    """Add the prompt to `server`."""
    server.prompt(
        name="send_rupiah",
        title="Send rupiah",
        description="Send rupiah to an Indonesian bank account or e-wallet, step by step.",
    )(send_rupiah)


def send_rupiah(
    amount: Annotated[str, Field(description="How much, such as 150000 rupiah. Optional.")] = "",
    destination: Annotated[str, Field(description="The bank or e-wallet, such as BCA or GoPay. Optional.")] = "",
) -> str:
    """Return the instructions for the agent. It asks the user for the recipient's number and name."""
    task = " ".join(part for part in ("Send", amount or "rupiah", f"to {destination}" if destination else "") if part)
    return "\n".join(
        [
            f"{task}. Go step by step:",
            "1. Call list_payout_methods and choose the entry that I mean; ask me if several fit.",
            "2. Ask me for what is missing: account or mobile number, amount, and the holder's name if I know it.",
            "3. Call get_btc_idr_quote and tell me the approximate price.",
            "4. Repeat destination, number and amount, and wait until I confirm.",
            "5. Call create_offramp_order once, with includeQr, and show me how to pay and by when.",
            "6. Call wait_for_offramp_order until it is COMPLETED or FAILED, and tell me each step.",
            "If the outcome of step 5 is unknown, call list_offramp_orders and ask me. Don't create another order.",
        ]
    )
