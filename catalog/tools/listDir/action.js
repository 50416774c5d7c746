return safety.fs.list(dir || ".");
