package dev.warmpath.router.proxy;

import java.util.Locale;

/** How the response to a client ended. Immutable. */
public enum ResponseEnd {
  /** All of it was sent. */
  COMPLETE,
  /** The client went away before. */
  CLIENT_GONE,
  /** The replica broke it off, and so did we. */
  BROKEN_OFF,
  /** A time limit or our own end broke it off. */
  CUT_OFF;

  /** The name in metrics and logs. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
