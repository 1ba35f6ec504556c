"""What is true whatever the transport: pure, synchronous, and free of any driver."""
