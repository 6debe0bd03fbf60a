package dev.warmpath.router.cluster;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What operators said, by name: of two that speak of one name the later counts. A router's stamps
 * are later than all that it has seen, so who has read a value and changes it wins, whatever the
 * clocks say.
 *
 * <p>Merging is commutative, associative and idempotent. A removed name keeps its stamp, so that an
 * older value does not come back.
 *
 * <p>Confined to its owner's lock.
 */
final class LastWriterMap {

  /** Names that there may be; more are refused. Operators name replicas. */
  static final int MOST = 16_384;

  /**
   * A value.
   *
   * @param millis since 1970, or later than all that its author had seen
   * @param author the {@link RouterId#start} of who said it; of equal times the higher counts
   * @param value null if the name was removed
   */
  record Entry(String name, long millis, long author, @Nullable String value) {

    /** Whether it counts rather than the other. */
    boolean isLater(Entry other) {
      if (millis != other.millis) {
        return millis > other.millis;
      }
      if (author != other.author) {
        return author > other.author;
      }
      // one author says one thing at a time; to merge alike whatever comes
      return order(value).compareTo(order(other.value)) > 0;
    }

    private static String order(@Nullable String value) {
      return value == null ? "" : " " + value;
    }

    long hash() {
      return Rows.digest(Objects.hash(name, millis, author, value));
    }
  }

  private final Map<String, Entry> entries = new HashMap<>();
  private long latestMillis;
  private long hash;

  /** Says something; the entry that others must be told. */
  Entry put(String name, @Nullable String value, long nowMillis, long author) {
    Entry entry = new Entry(name, Math.max(nowMillis, latestMillis + 1), author, value);
    merge(entry);
    return entry;
  }

  /** Takes what was said elsewhere; whether it counts now. */
  boolean merge(Entry entry) {
    Entry known = entries.get(entry.name());
    if (known != null ? !entry.isLater(known) : entries.size() >= MOST) {
      return false;
    }
    entries.put(entry.name(), entry);
    latestMillis = Math.max(latestMillis, entry.millis());
    hash += entry.hash() - (known == null ? 0 : known.hash());
    return true;
  }

  @Nullable Entry get(String name) {
    return entries.get(name);
  }

  Collection<Entry> entries() {
    return entries.values();
  }

  /** Equal for equal contents. */
  long digest() {
    return hash;
  }
}
