package dev.warmpath.simulator.study;

import dev.warmpath.router.dispatch.UncachedTokens.Cause;

/** The figures that a cell is compared by. */
enum Figure {
  TTFT_MEAN("ttftMeanMs", "TTFT mean", "ms", Better.LOWER, 0),
  TTFT_P50("ttftP50Ms", "TTFT p50", "ms", Better.LOWER, 0),
  TTFT_P90("ttftP90Ms", "TTFT p90", "ms", Better.LOWER, 0),
  TTFT_P99("ttftP99Ms", "TTFT p99", "ms", Better.LOWER, 0),
  ANSWER_MEAN("answerMeanMs", "answer mean", "ms", Better.LOWER, 0),
  ANSWER_P99("answerP99Ms", "answer p99", "ms", Better.LOWER, 0),
  TPOT("tpotMs", "TPOT", "ms", Better.LOWER, 1),
  HIT_RATE("hitRate", "hit rate", "", Better.HIGHER, 3),
  HOST_HIT_RATE("hostHitRate", "from host", "", Better.NEITHER, 3),
  LOAD_MEAN("loadMeanMs", "load mean", "ms", Better.NEITHER, 1),
  UNCACHED_NEW("uncachedNew", "new", "", Better.NEITHER, 3),
  UNCACHED_EVICTED("uncachedEvicted", "evicted", "", Better.NEITHER, 3),
  UNCACHED_ELSEWHERE("uncachedElsewhere", "elsewhere", "", Better.NEITHER, 3),
  UNCACHED_LOST("uncachedLost", "lost", "", Better.NEITHER, 3),
  UNCACHED_MISPREDICTED("uncachedMispredicted", "mispredicted", "", Better.NEITHER, 3),
  GOODPUT("goodput", "goodput", "", Better.HIGHER, 3),
  IMBALANCE("imbalance", "imbalance", "", Better.LOWER, 2),
  PREDICTED_MINUS_ACTUAL("predictedMinusActual", "predicted − actual", "tokens", Better.NEITHER, 1),
  SPLIT("split", "split", "", Better.NEITHER, 3),
  REJECTED("rejected", "rejected", "", Better.LOWER, 0),
  SESSIONS("sessionsPerSecond", "sessions", "/s", Better.HIGHER, 3);

  /** Which values are good ones. */
  public enum Better {
    LOWER,
    HIGHER,
    NEITHER
  }

  private final String key;
  private final String title;
  private final String unit;
  private final Better better;
  private final int decimals;

  Figure(String key, String title, String unit, Better better, int decimals) {
    this.key = key;
    this.title = title;
    this.unit = unit;
    this.better = better;
    this.decimals = decimals;
  }

  /** Its name in files. */
  public String key() {
    return key;
  }

  /** Its name in tables and plots. */
  public String title() {
    return title;
  }

  /** Empty if it has none. */
  public String unit() {
    return unit;
  }

  public Better better() {
    return better;
  }

  /** How many decimals are worth showing. */
  public int decimals() {
    return decimals;
  }

  /** Its value in one run. */
  public double of(RunFigures run) {
    return switch (this) {
      case TTFT_MEAN -> run.ttftMillis().mean();
      case TTFT_P50 -> run.ttftMillis().p50();
      case TTFT_P90 -> run.ttftMillis().p90();
      case TTFT_P99 -> run.ttftMillis().p99();
      case ANSWER_MEAN -> run.answerMillis().mean();
      case ANSWER_P99 -> run.answerMillis().p99();
      case TPOT -> run.tpotMillis();
      case HIT_RATE -> run.hitRate();
      case HOST_HIT_RATE -> run.hostHitRate();
      case LOAD_MEAN -> run.loadMillis();
      case UNCACHED_NEW -> uncached(run, Cause.NEW);
      case UNCACHED_EVICTED -> uncached(run, Cause.EVICTED);
      case UNCACHED_ELSEWHERE -> uncached(run, Cause.ELSEWHERE);
      case UNCACHED_LOST -> uncached(run, Cause.LOST);
      case UNCACHED_MISPREDICTED -> uncached(run, Cause.MISPREDICTED);
      case GOODPUT -> run.goodput();
      case IMBALANCE -> run.imbalance();
      case PREDICTED_MINUS_ACTUAL -> run.predictedMinusActual();
      case SPLIT -> run.split();
      case REJECTED -> run.rejected();
      case SESSIONS -> run.sessionsPerSecond();
    };
  }

  private static double uncached(RunFigures run, Cause cause) {
    return run.uncached().getOrDefault(cause, 0.0);
  }
}
