"""What the bot draws: receipts and charts, on one canvas and in one hand. Facts in, a PNG out."""
