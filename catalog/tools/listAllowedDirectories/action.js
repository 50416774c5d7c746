return {
  readRoots: safety.fs.readRoots(),
  workingDirectory: safety.fs.workspace(),
};
