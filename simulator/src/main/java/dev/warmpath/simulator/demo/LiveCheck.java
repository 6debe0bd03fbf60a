package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.dispatch.EngineChain;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Sends requests on and judges each prediction by what the engine says it reused.
 *
 * <p>Thread-safe.
 */
public final class LiveCheck implements ChatSender {

  /** The events of an eviction that explains a short hit are heard by then. */
  private static final Duration EVENTS_LIMIT = Duration.ofSeconds(1);

  private final ChatSender router;
  private final Function<String, List<EngineChain>> chains;
  private final EvictionWatch evictions;
  private final Duration settle;
  private final Map<PredictionVerdict, Integer> verdicts = new EnumMap<>(PredictionVerdict.class);

  /**
   * @param chains a request's prompt on each engine
   * @param evictions stands before the router's index
   * @param settle how long to wait after each reply: an engine may answer before it publishes what
   *     its last step stored and evicted
   */
  public LiveCheck(
      ChatSender router,
      Function<String, List<EngineChain>> chains,
      EvictionWatch evictions,
      Duration settle) {
    this.router = router;
    this.chains = chains;
    this.evictions = evictions;
    this.settle = settle;
  }

  @Override
  public ChatReply send(String body) {
    try (EvictionWatch.Prompt prompt = evictions.watch(chains.apply(body))) {
      ChatReply reply = router.send(body);
      TimeUnit.NANOSECONDS.sleep(settle.toNanos());
      count(PredictionVerdict.of(reply, reply.promisedTooMuch() && isExcused(prompt, reply)));
      return reply;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** What was judged so far, beside the load's own figures and the router's causes. */
  public synchronized CheckReport report(LoadReport load, CauseCheck causes) {
    return new CheckReport(verdicts, load, causes);
  }

  private static boolean isExcused(EvictionWatch.Prompt prompt, ChatReply reply)
      throws InterruptedException {
    String replica = reply.replica();
    return replica != null && prompt.fellTo(replica, reply.cachedTokens(), EVENTS_LIMIT);
  }

  private synchronized void count(PredictionVerdict verdict) {
    verdicts.merge(verdict, 1, Integer::sum);
  }

  /** What one reply says about its prediction. */
  enum PredictionVerdict {
    /** The engine reused just what was predicted. */
    EXACT,
    /** The engine reused less than predicted. */
    OVER,
    /** The engine reused less, because it evicted blocks of the prompt meanwhile. */
    EVICTED,
    /** The engine reused more than predicted. */
    UNDER,
    /** There was no prediction, or the engine does not say what it reused. */
    UNJUDGED,
    /** The request was not served. */
    FAILED;

    /**
     * @param evicted whether the replica evicted so much of the prompt between prediction and reply
     */
    static PredictionVerdict of(ChatReply reply, boolean evicted) {
      if (reply.error() != null) {
        return FAILED;
      }
      if (!reply.comparable()) {
        return UNJUDGED;
      }
      if (reply.promisedTooMuch()) {
        return evicted ? EVICTED : OVER;
      }
      return reply.predictedTokens() == reply.cachedTokens() ? EXACT : UNDER;
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What a check gave.
   *
   * @param verdicts requests by verdict
   * @param load the load's own figures
   * @param causes why tokens were not cached
   */
  public record CheckReport(
      Map<LiveCheck.PredictionVerdict, Integer> verdicts, LoadReport load, CauseCheck causes) {

    public CheckReport {
      verdicts = Map.copyOf(verdicts);
    }

    /**
     * Whether nothing was promised that the engines did not hold, everything was served, at least
     * one prediction could be judged, and each uncached token of those that were has one cause.
     */
    public boolean passed() {
      return count(LiveCheck.PredictionVerdict.OVER) == 0
          && count(LiveCheck.PredictionVerdict.FAILED) == 0
          && count(LiveCheck.PredictionVerdict.UNJUDGED) < load.requests()
          && causes.judged() > 0
          && causes.unbalanced() == 0;
    }

    /** One line to read. */
    public String line() {
      StringBuilder line = new StringBuilder();
      line.append(load.requests()).append(" requests:");
      for (LiveCheck.PredictionVerdict verdict : LiveCheck.PredictionVerdict.values()) {
        line.append(' ').append(count(verdict)).append(' ').append(verdict.label()).append(',');
      }
      line.append(String.format(" hit rate %.1f %%", 100 * load.hitRate()));
      line.append(
          String.format(
              "; causes of %d, %d do not add up; uncached tokens %s",
              causes.judged(), causes.unbalanced(), new TreeMap<>(causes.tokens())));
      if (!load.failures().isEmpty()) {
        line.append("; failures ").append(new TreeMap<>(load.failures()));
      }
      return line.toString();
    }

    /** One line for programs. */
    public String json() {
      ObjectNode json = JsonNodeFactory.instance.objectNode();
      json.put("requests", load.requests());
      for (LiveCheck.PredictionVerdict verdict : LiveCheck.PredictionVerdict.values()) {
        json.put(verdict.label(), count(verdict));
      }
      json.put("hitRate", load.hitRate());
      json.put("causesJudged", causes.judged()).put("causesUnbalanced", causes.unbalanced());
      ObjectNode uncached = json.putObject("uncachedTokens");
      new TreeMap<>(causes.tokens()).forEach(uncached::put);
      ObjectNode failures = json.putObject("failures");
      new TreeMap<>(load.failures()).forEach(failures::put);
      ObjectNode perReplica = json.putObject("requestsPerReplica");
      load.perReplica().forEach(perReplica::put);
      return json.toString();
    }

    private int count(LiveCheck.PredictionVerdict verdict) {
      return verdicts.getOrDefault(verdict, 0);
    }
  }
}
