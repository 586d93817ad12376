"""A small MCP server over stdin and stdout, started by test_mcp.py."""

from mcp.server.fastmcp import FastMCP

server = FastMCP("parcels")


@server.tool()
def track(parcel: str) -> dict[str, str]:
    """Where a parcel is."""
    return {"parcel": parcel, "place": "Leeds"}


if __name__ == "__main__":
    server.run()
