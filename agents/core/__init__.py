"""Parts that all agents share."""
