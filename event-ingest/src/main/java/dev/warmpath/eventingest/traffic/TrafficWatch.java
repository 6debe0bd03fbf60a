package dev.warmpath.eventingest.traffic;

/**
 * What is known of the requests behind one engine's batches: from which batch on this router has
 * seen all of them, and which kinds of them there were.
 *
 * <p>Some requests are served in name spaces that no event shows (SGLang's {@code extra_key},
 * TensorRT-LLM's adapters and salts): their stores look like plain ones and must be left out. While
 * such a request is under way that is known. A batch that is applied later than it was published,
 * because a replay brought it or because it waited for one, may be of another time: it is believed
 * if it is not older than what this router can have seen, and if no such request was ever seen or
 * the last one is known to have ended before.
 *
 * <p>The same holds for requests that make vLLM announce again what it announced before.
 *
 * <p>Confined to the writer; {@link #sawHidden} and {@link #mayRepeat} may be called by any thread,
 * before the request is sent.
 */
public final class TrafficWatch {

  /*
   *   0 ............ watchedFrom ................ now        batches of one process
   *   nobody knows   this router saw the requests
   *
   * A batch that is heard live was published after this router began. It may still be of requests
   * that an earlier router sent, so the watch begins some time after (`watching`), or with batch 0.
   * A process that is seen to follow one that was heard began under the watch as a whole.
   *
   *   ... hidden requests ... | 30 s | not heard | hiddenBelow ............ now
   *        left out               left out when late    known, live or late
   *
   * Batches that were not heard live between the end of the hidden requests and the first live one
   * behind it may be of either time. So that live one is the first of which no later one hides.
   *
   * What was seen of name spaces is not forgotten with the process: the router may learn late that
   * a process is new, when requests to it have ended.
   */

  /** No batch is known to be of requests that were all seen. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long NONE = -1;

  private final boolean othersMayHide;
  private boolean underWay;
  private volatile boolean hiddenSeen;
  private volatile boolean mayRepeat;
  private boolean repeatedBefore;
  private boolean inherited;
  private boolean resumed;
  private boolean watching;
  private boolean hiddenHeld;
  private boolean emptied;
  private long watchedFrom = NEVER;
  private long hiddenBelow = NEVER;
  private long live = NONE;
  private boolean late;
  private boolean unseen;
  private boolean mayBeOfHiddenTime;

  /**
   * @param othersMayHide whether requests that nobody here sees may be in name spaces that the
   *     events do not show
   */
  public TrafficWatch(boolean othersMayHide) {
    this.othersMayHide = othersMayHide;
  }

  /** Goes on with what another process knew of the engine's process. */
  public void resume(LifetimeFacts facts) {
    hiddenSeen = facts.hiddenSeen();
    hiddenHeld = hiddenSeen;
    repeatedBefore = facts.mayRepeat();
    resumed = true;
    // Hidden requests of the other process may still be under way.
    inherited = !hiddenSeen && facts.watchedFrom() != NEVER;
    watching = inherited;
    hiddenBelow = NEVER;
    watchedFrom = inherited ? facts.watchedFrom() : NEVER;
  }

  /** A request is about to be sent whose name space the engine's events do not show. */
  public void sawHidden() {
    hiddenSeen = true;
  }

  /** Whether there was one, as far as anybody remembers. */
  public boolean hiddenSeen() {
    return hiddenSeen;
  }

  /**
   * From now on the engine may announce again what it announced before (vLLM's full reports), from
   * the root on and without a sign of it. Such blocks are held, once however often they are said to
   * be stored. In groups that keep only some blocks a report names others too: there they are left
   * out.
   */
  public void mayRepeat() {
    mayRepeat = true;
  }

  /** Whether such requests are under way, or so lately that their stores may still come. */
  public void underWay(boolean now) {
    underWay = now;
    if (now) {
      hiddenHeld = true;
      hiddenBelow = NEVER;
    }
  }

  /** Whether such a request is, as far as the writer was told. */
  public boolean isUnderWay() {
    return underWay;
  }

  /** A batch says that the engine holds nothing. */
  public void emptied() {
    if (!mayHide()) {
      hiddenHeld = false;
      emptied = true;
    }
  }

  /** Requests that others sent before this router began have ended, and their stores have come. */
  public void watching() {
    watching = true;
  }

  /** A batch comes on the live connection; until {@link #heard} it is the one that is live. */
  public void hears(long sequence) {
    live = sequence;
    if (sequence == 0 || (watching && sequence > 0)) {
      watchedFrom = Math.min(watchedFrom, sequence);
    }
  }

  /** What is applied from now on is late. */
  public void heard() {
    live = NONE;
  }

  /**
   * The engine's process is another one.
   *
   * @param afterOneHeard whether the one before was heard by this router, so that this one began
   *     later
   */
  public void anotherProcess(boolean afterOneHeard) {
    repeatedBefore = false;
    emptied = false;
    hiddenBelow = NEVER;
    if (afterOneHeard || inherited) {
      resumed = false;
      watchedFrom = 0;
    }
  }

  /** A batch is about to be applied. */
  public void applies(long sequence) {
    late = sequence != live;
    unseen = sequence < watchedFrom;
    if (!late && watching && !underWay && hiddenBelow == NEVER) {
      hiddenBelow = sequence;
    }
    mayBeOfHiddenTime = sequence < hiddenBelow;
  }

  /** Whether the batch may be of requests in name spaces that it does not show. */
  public boolean mayHide() {
    return underWay || isDark();
  }

  /**
   * Whether the engine may hold blocks of such requests, which it may move from one tier to another
   * long after they ended.
   */
  public boolean mayHoldHidden() {
    return hiddenHeld || (othersMayHide && !emptied && watchedFrom > 0);
  }

  /** Whether a replay of all batches brings what is known, and does not only take it away. */
  public boolean believesReplays() {
    return hiddenSeen ? hiddenBelow == 0 : !othersMayHide || !resumed || watchedFrom == 0;
  }

  /** Whether nobody can know it. */
  public boolean isDark() {
    return hiddenSeen ? (late && mayBeOfHiddenTime) || unseen : othersMayHide && unseen;
  }

  /** Whether the batch may announce again what was announced before. */
  public boolean mayHaveRepeated() {
    return mayRepeat || repeatedBefore || (resumed && unseen);
  }

  /** Whether any batch of this process may have. */
  public boolean mayRepeatAtAll() {
    return mayRepeat || repeatedBefore;
  }

  /** The batch from which on all requests were seen; {@link #NEVER} for none. */
  public long watchedFrom() {
    return watchedFrom;
  }
}
