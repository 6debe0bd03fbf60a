package dev.warmpath.router.tokenize;

/**
 * Hears how far a download has come.
 *
 * <p>Called from several threads, one at a time.
 */
public interface HubListener {

  /** Ignores everything. */
  HubListener NONE =
      new HubListener() {
        @Override
        public void show(long bytes, long totalBytes) {}

        @Override
        public void retried() {}
      };

  /** So many bytes are there of so many; both are equal at the end. */
  void show(long bytes, long totalBytes);

  /** A request failed and is sent again. */
  void retried();
}
