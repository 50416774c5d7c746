const Builder = Java.type("java.lang.ProcessBuilder");
const run = new Builder("python3", "-c", code)
  .input(input ?? "")
  .timeoutMs((timeoutSeconds ?? 0) * 1000)
  .run();
if (run.exitCode === 127) {
  throw new Error(
    "there is no python3 in the sandbox: install it, or name an image that has it in sandbox.rules of the policy",
  );
}
return {
  exitCode: run.exitCode,
  stdout: run.stdout,
  stderr: run.stderr,
  timedOut: run.timedOut,
  truncated: run.truncated,
};
