"""What all packages share: names, plug-ins, parameters, files, the cache, the system, errors."""
