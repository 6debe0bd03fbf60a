package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.console.Totals.HitRates;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.HotPrefix;
import dev.warmpath.router.fleet.HotPrefixes;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.logs.RequestLogs;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the console shows beyond the state of the fleet: the last hour and the last seconds in
 * numbers, the last decisions, and the hottest prefixes.
 *
 * <p>Thread-safe. Answers take milliseconds: ask off the event loop.
 */
public final class Console implements RequestLogs.Recent {

  /** Length of a step of the history, in seconds. */
  public static final int STEP_SECONDS = History.STEP_SECONDS;

  /** The longest history, in seconds. */
  public static final int HISTORY_SECONDS = History.STEPS * History.STEP_SECONDS;

  private final RouterConfig.Admin config;
  private final long decisionBytes;
  private final History history;
  private final RecentDecisions decisions;
  private final HotPrefixes prefixes;

  /**
   * Begins to remember.
   *
   * @param decisionBytes for the kept decisions
   */
  public Console(
      Totals.Sources sources, RouterConfig.Admin config, long decisionBytes, Clock clock) {
    this.config = config;
    this.decisionBytes = decisionBytes;
    this.history = new History(sources, clock);
    this.decisions = new RecentDecisions(config, decisionBytes, clock);
    this.prefixes = sources.dispatcher().prefixes();
    prefixes.keepEnds(config.showPrompts());
  }

  /** A step of the history is over; to be called every {@link #STEP_SECONDS}. */
  public void step() {
    prefixes.expire();
    history.step();
  }

  /** The numbers of the last ten seconds. */
  public ObjectNode now() {
    return history.now();
  }

  /** The numbers of the last {@code seconds}, step by step. */
  public ObjectNode history(int seconds) {
    return history.json(seconds);
  }

  /** How an engine's cache and its predictions did in the last five minutes. */
  public HitRates rates(String engine) {
    return history.rates(engine);
  }

  @Override
  public void add(Decision decision, @Nullable PreparedRequest request) {
    decisions.add(decision, request);
  }

  /** The prefixes that saved most tokens, {@code most} at most. */
  public List<HotPrefix> prefixes(int most) {
    return prefixes.hottest(most);
  }

  /** The kept decisions that match, the newest first. */
  public ObjectNode decisions(RecentDecisions.Query query) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.set("decisions", json(decisions.newest(query)));
    root.put("kept", decisions.fill().kept());
    return root.put("maxKept", config.decisionsKept());
  }

  private static ArrayNode json(List<KeptDecision> shown) {
    ArrayNode list = JsonNodeFactory.instance.arrayNode(shown.size());
    shown.forEach(decision -> list.add(decision.json()));
    return list;
  }

  /** The number of the last decision. */
  public long lastDecision() {
    return decisions.lastId();
  }

  /** The decisions after {@code id}, the oldest first; of more than {@code most} the newest. */
  public ArrayNode decisionsSince(long id, int most) {
    return json(decisions.since(id, most));
  }

  /** A decision that is still kept. */
  public Optional<KeptDecision> decision(long id) {
    return decisions.find(id);
  }

  /** Shows how full the decisions' room is. */
  public void collect(MetricValues to) {
    RecentDecisions.Fill fill = decisions.fill();
    to.add(Metric.CONSOLE_DECISIONS, fill.kept());
    to.add(Metric.CONSOLE_DECISIONS_LIMIT, config.decisionsKept());
    to.add(Metric.CONSOLE_DECISIONS_BYTES, fill.bytes());
    to.add(Metric.CONSOLE_DECISIONS_MAX_BYTES, decisionBytes);
    to.add(Metric.CONSOLE_PREFIXES, prefixes.nodes());
  }
}
