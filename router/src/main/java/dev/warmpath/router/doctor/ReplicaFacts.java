package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.doctor.FleetFacts.TlsFacts;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.router.tokenize.ImageComparison;
import dev.warmpath.router.tokenize.ProbeComparison;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was found of one replica.
 *
 * @param tls its certificate; null for {@code http}, and if it shows none
 * @param streams one a rank; none if it has no events
 * @param comparisons one for each of its models that has a tokenizer
 * @param images one for each of its models that has a tokenizer, if it is a vLLM that can be asked
 * @param trials one a rank; none if requests are forbidden, or it cannot be asked
 */
record ReplicaFacts(
    ReplicaConfig config,
    HttpFacts http,
    @Nullable TlsFacts tls,
    List<StreamFacts> streams,
    List<ProbeComparison> comparisons,
    List<ImageComparison> images,
    List<Trial> trials) {

  public ReplicaFacts {
    streams = List.copyOf(streams);
    comparisons = List.copyOf(comparisons);
    images = List.copyOf(images);
    trials = List.copyOf(trials);
  }

  public String name() {
    return config.name();
  }

  /** What an engine is called in findings: its replica, and its rank if there are several. */
  public String engine(int rank) {
    return config.ranks() == 1 ? config.name() : config.name() + "/" + rank;
  }

  /** The trial of one rank, if there was one. */
  public Optional<Trial> trial(int rank) {
    return trials.stream().filter(trial -> trial.engine().dpRank() == rank).findFirst();
  }

  /**
   * How one engine's event stream and replay behaved.
   *
   * @param source where it was looked for
   * @param portProblem why its port cannot be reached; null if it can, or nobody can say
   * @param replayProblem the same of its replay port
   * @param boundEndpoint where this side listens for the engine; null if it does not
   * @param connected whether a publisher has shaken hands
   * @param batches heard live
   * @param replay what its replay socket answered; null if it was not asked
   * @param status how the stream stood in the end
   */
  record StreamFacts(
      EngineSource source,
      @Nullable String portProblem,
      @Nullable String replayProblem,
      @Nullable String boundEndpoint,
      boolean connected,
      long batches,
      @Nullable ReplayFacts replay,
      EngineStatus status) {

    /**
     * The answer to one question for everything from the first batch on.
     *
     * @param whole whether it came with its end
     * @param batches how many came
     * @param firstSequence number of the first one, −1 if none came
     * @param firstSeconds the engine's clock when it published that, seconds since 1970; NaN if it
     *     does not say
     */
    public record ReplayFacts(
        boolean whole, long batches, long firstSequence, double firstSeconds) {}

    /** How often this happened, by a counter's label. */
    public long count(String label) {
      return status.counters().getOrDefault(label, 0L);
    }
  }

  /**
   * One prompt that was sent twice to one engine, which had never seen it.
   *
   * @param model the model that was asked
   * @param problem why it was not served; null if it was, both times
   * @param status of the answer that was not served; 0 if none came
   * @param promptTokens its length by our tokenizer; 0 if there is none, and nothing was predicted
   * @param first what the first answer told
   * @param second what the second answer told
   * @param events whether any event came on the engine's stream meanwhile
   * @param heldBlocks leading blocks that the engine held by its events before the second request
   * @param predictedTokens what it was predicted to reuse then
   * @param heldBy another engine on whose stream the prompt's blocks came; null if none did
   */
  record Trial(
      EngineId engine,
      String model,
      @Nullable String problem,
      int status,
      int promptTokens,
      Usage first,
      Usage second,
      boolean events,
      int heldBlocks,
      int predictedTokens,
      @Nullable EngineId heldBy) {

    /** A trial that was not served. */
    public static Trial failed(EngineId engine, String model, int status, String problem) {
      return new Trial(
          engine, model, problem, status, 0, Usage.NONE, Usage.NONE, false, 0, 0, null);
    }

    /** Whether a prediction was made and both answers came. */
    public boolean isJudged() {
      return problem == null && promptTokens > 0;
    }
  }
}
