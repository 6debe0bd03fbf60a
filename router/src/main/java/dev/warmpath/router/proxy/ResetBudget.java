package dev.warmpath.router.proxy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * How many requests the clients of one address may take back before they are answered, over all
 * their connections: so many at once, and as many in half a minute. One that is taken back as soon
 * as it came counts for several: nobody waited for it, and a storm consists of them. Of an IPv6
 * address the first half counts, as clients can have the second half to themselves.
 *
 * <p>Thread-safe.
 */
final class ResetBudget {

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long PENALTY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long RAPID_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int RAPID_COST = 16;
  private static final int MOST_ADDRESSES = 4_096;
  private static final int NETWORK_BYTES = 8;

  private static final class Account {
    private double left;
    private long sinceNanos;
  }

  private final IntSupplier limit;
  private final LongSupplier nanoClock;

  /** The address that was heard of last is the last. */
  private final Map<ByteBuffer, Account> accounts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Account> eldest) {
          return size() > MOST_ADDRESSES;
        }
      };

  ResetBudget(IntSupplier limit, LongSupplier nanoClock) {
    this.limit = limit;
    this.nanoClock = nanoClock;
  }

  /**
   * A client of {@code address} took a request back; false if it may take back no more.
   *
   * @param afterNanos how long after the request came
   */
  synchronized boolean spend(InetAddress address, long afterNanos) {
    long now = nanoClock.getAsLong();
    double most = limit.getAsInt();
    Account account = accounts.computeIfAbsent(client(address), key -> full(most, now));
    earn(account, most, now);
    if (account.left < 1) {
      account.left = -most * PENALTY_NANOS / WINDOW_NANOS;
      return false;
    }
    account.left -= afterNanos < RAPID_NANOS ? Math.min(RAPID_COST, account.left) : 1;
    return true;
  }

  /** Whether clients of {@code address} took back too many less than about a second ago. */
  synchronized boolean isSpent(InetAddress address) {
    Account account = accounts.get(client(address));
    if (account == null) {
      return false;
    }
    earn(account, limit.getAsInt(), nanoClock.getAsLong());
    return account.left < 0;
  }

  private static void earn(Account account, double most, long now) {
    double earned = most * (now - account.sinceNanos) / WINDOW_NANOS;
    account.left = Math.min(most, account.left + earned);
    account.sinceNanos = now;
  }

  private static Account full(double most, long now) {
    Account account = new Account();
    account.left = most;
    account.sinceNanos = now;
    return account;
  }

  private static ByteBuffer client(InetAddress address) {
    byte[] bytes = address.getAddress();
    return ByteBuffer.wrap(
        address instanceof Inet6Address ? Arrays.copyOf(bytes, NETWORK_BYTES) : bytes);
  }
}
