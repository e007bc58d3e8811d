"""What programs import as `pop`: a hub of their own (`pop.hub.Hub`)."""
