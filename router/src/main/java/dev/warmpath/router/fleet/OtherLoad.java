package dev.warmpath.router.fleet;

/**
 * What an engine does for others than this router, by its own metrics: for other routers, or for
 * clients that go there directly.
 *
 * <p>Immutable.
 *
 * @param running requests that it computes
 * @param waiting requests in its queue
 * @param kvUse the part of its KV cache that running requests use, this router's too; 0 if it does
 *     not say
 */
public record OtherLoad(int running, int waiting, double kvUse) {

  /** Nothing, or nothing that is known. */
  public static final OtherLoad NONE = new OtherLoad(0, 0, 0);

  public OtherLoad {
    if (running < 0 || waiting < 0) {
      throw new IllegalArgumentException("running=" + running + " waiting=" + waiting);
    }
    if (!(kvUse >= 0 && kvUse <= 1)) {
      throw new IllegalArgumentException("kvUse=" + kvUse);
    }
  }

  public int requests() {
    return running + waiting;
  }
}
