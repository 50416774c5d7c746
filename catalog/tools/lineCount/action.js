return safety.fs.lineCount(path);
