"""Random games side by side in the lanes of the processor's vectors."""
