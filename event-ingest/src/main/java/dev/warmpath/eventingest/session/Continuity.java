package dev.warmpath.eventingest.session;

/**
 * Whether what is held of an engine is of the process that is heard next.
 *
 * <p>Immutable.
 */
enum Continuity {
  /** It is: the connection has lasted since, or a replay has shown it. */
  CONTINUOUS,
  /** The connection was lost: the next process may be another one. */
  BROKEN,
  /** It comes from a snapshot, and no replay has shown it yet. */
  RESTORED,
  /** The same, but the process that runs now started when the one of the snapshot did. */
  RESTORED_START_MATCHES,
  /** It comes from a snapshot, and only the start of the process can show it: it is suspended. */
  AWAITING_START,
  /** The same, and the connection was lost. */
  AWAITING_START_BROKEN;

  /** What changes it. */
  enum Event {
    /** The connection is lost, or made anew. */
    CONNECTION_LOST,
    /** A replay was answered, or what was held of before is suspended or forgotten. */
    REJOINED,
    /** The process that runs now started when the one that is known did. */
    START_MATCHES,
    /** No replay can show whose it is. */
    NO_REPLAY,
    /** A replay has shown that it is of this process, or what was restored is forgotten. */
    DECIDED
  }

  /** What was restored is decided on by the step that leads to CONTINUOUS or BROKEN. */
  Continuity after(Event event) {
    return switch (this) {
      case CONTINUOUS -> event == Event.CONNECTION_LOST ? BROKEN : this;
      case BROKEN -> event == Event.REJOINED ? CONTINUOUS : this;
      case RESTORED ->
          switch (event) {
            case CONNECTION_LOST, REJOINED -> this;
            case START_MATCHES -> RESTORED_START_MATCHES;
            case NO_REPLAY -> AWAITING_START;
            case DECIDED -> BROKEN;
          };
      case RESTORED_START_MATCHES ->
          switch (event) {
            case CONNECTION_LOST, REJOINED, START_MATCHES -> this;
            case NO_REPLAY -> CONTINUOUS;
            case DECIDED -> BROKEN;
          };
      case AWAITING_START ->
          switch (event) {
            case CONNECTION_LOST -> AWAITING_START_BROKEN;
            case REJOINED, NO_REPLAY -> this;
            case START_MATCHES, DECIDED -> CONTINUOUS;
          };
      case AWAITING_START_BROKEN ->
          switch (event) {
            case CONNECTION_LOST -> this;
            case REJOINED, NO_REPLAY -> AWAITING_START;
            case START_MATCHES, DECIDED -> BROKEN;
          };
    };
  }

  /** Whether it was heard from this process on, or what was restored is decided on. */
  boolean isDecided() {
    return this == CONTINUOUS || this == BROKEN;
  }

  /** Whether only the start of the process can show whose it is. */
  boolean awaitsStart() {
    return this == AWAITING_START || this == AWAITING_START_BROKEN;
  }

  /** Whether what is held may be of another process than what is heard next. */
  boolean isBroken() {
    return this != CONTINUOUS && this != AWAITING_START;
  }
}
