"""The http transport: `POST /mcp` and `GET /healthz`, and what stands in front of them.

From the outside inwards: `front` (failures, headers), `hosts` (which machine and which page), `paths`, and for
`POST /mcp` alone `bearer`, `pace`, `body` and `message`, then the SDK. Nobody's body is kept who hasn't the bearer.
"""

from bot.mcp_server.http.serve import serve

__all__ = ["serve"]
