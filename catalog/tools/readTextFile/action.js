return safety.fs.readText(path);
