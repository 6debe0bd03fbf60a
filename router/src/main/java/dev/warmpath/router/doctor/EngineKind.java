package dev.warmpath.router.doctor;

/** Which engine answers, by its routes and metrics. */
enum EngineKind {
  VLLM("vLLM"),
  SGLANG("SGLang"),
  /** It does not say. */
  OTHER("an engine that does not say its name");

  private final String label;

  EngineKind(String label) {
    this.label = label;
  }

  /** The name for people. */
  public String label() {
    return label;
  }
}
