const Builder = Java.type("java.lang.ProcessBuilder");
const run = new Builder("/bin/sh", "-c", script)
  .input(input ?? "")
  .timeoutMs((timeoutSeconds ?? 0) * 1000)
  .run();
return {
  exitCode: run.exitCode,
  stdout: run.stdout,
  stderr: run.stderr,
  timedOut: run.timedOut,
  truncated: run.truncated,
};
