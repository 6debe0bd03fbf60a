package dev.warmpath.simulator.demo;

import dev.warmpath.router.dispatch.EngineChain;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
}
