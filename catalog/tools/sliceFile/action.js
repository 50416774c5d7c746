return safety.fs.slice(path, start ?? 0, end);
