"""What the theories predict about unseen cells, without training anything."""
