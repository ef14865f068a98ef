"""Model Context Protocol: research as tools for agents, over standard input or HTTP."""
