package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ValueNode;

/** The numbers of a {@link Step}, by their names in answers. */
enum Series {
  /** Requests that ended, per second. */
  REQUESTS("requests"),
  /** Errors that the router answered itself, per second. */
  REFUSED("refused"),
  /** Cached tokens of prompts' tokens, 0 to 1. */
  HIT_RATE("hitRate"),
  /** Cached tokens per second. */
  TOKENS_SAVED("tokensSaved"),
  /** What these would have cost by the learned speeds, in milliseconds per second. */
  PREFILL_MILLIS_SAVED("prefillMillisSaved"),
  /** Milliseconds from a request's head to the first byte of its response. */
  TTFT_P50("ttftP50"),
  TTFT_P90("ttftP90"),
  TTFT_P99("ttftP99"),
  /** Milliseconds between two parts of a streamed answer. */
  ITL_P50("itlP50"),
  ITL_P90("itlP90"),
  ITL_P99("itlP99"),
  /** The longest lag of an event stream at the end of the step, in milliseconds. */
  EVENT_LAG_MILLIS("eventLagMillis"),
  /** Gaps in event streams, per second. */
  GAPS("gaps"),
  /** Replays of event streams, per second. */
  REPLAYS("replays"),
  /** Requests at engines at the end of the step. */
  IN_FLIGHT("inFlight"),
  /** Requests in the queue at the end of the step. */
  QUEUED("queued");

  private static final double PRECISION = 1e4;

  private final String label;

  Series(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  /** A number as answers show it; null for NaN. */
  static ValueNode shown(double value) {
    return Double.isNaN(value)
        ? JsonNodeFactory.instance.nullNode()
        : JsonNodeFactory.instance.numberNode(Math.round(value * PRECISION) / PRECISION);
  }
}
