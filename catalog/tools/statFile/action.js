return safety.fs.stat(path);
