package dev.warmpath.router.health;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what goes wrong and what is well again: one WARN with the cause at the beginning, one INFO
 * at the end. Of what goes on and off {@value #BURST} such pairs are logged, then one a minute.
 *
 * <p>Confined to one thread.
 */
final class TroubleLog {

  private static final Logger LOG = LoggerFactory.getLogger(TroubleLog.class);
  private static final int BURST = 3;
  private static final double NANOS_PER_PAIR = TimeUnit.MINUTES.toNanos(1);
  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int MOST_CHARS = 500;

  /** What can be wrong with something. */
  enum Kind {
    REPLICA("replica", "", "well again", 0),
    ENGINE("engine", "", "not ejected any more", 0),
    STREAM("engine", "its events are not known in full: ", "its events are known in full again", 0),
    CONNECTION("engine", "its events do not come: ", "its events come", 10),
    STORE("store", "its events are missed: ", "its events come", 10),
    LIST("replica", "", "its models are known", 0),
    PAIR("replica", "no request is split over it: ", "requests can be split over it", 10),
    MODEL("model", "no replica is well, the least bad are tried: ", "a replica is well again", 0),
    UNSERVED("model", "configured, but no replica serves it: ", "a replica serves it", 30),
    TOKENIZER("model", "it has no tokenizer and is routed by load: ", "", 0);

    private final String noun;
    private final String wrong;
    private final String well;
    private final long patienceNanos;

    Kind(String noun, String wrong, String well, int patienceSeconds) {
      this.noun = noun;
      this.wrong = wrong;
      this.well = well;
      this.patienceNanos = TimeUnit.SECONDS.toNanos(patienceSeconds);
    }
  }

  private record Key(Kind kind, String subject) {}

  private static final class Entry {
    private boolean wrong;
    private boolean logged;
    private long wrongSinceNanos;
    private int unlogged;
    private double allowance = BURST;
    private long allowanceNanos;
  }

  private final Map<Key, Entry> entries = new HashMap<>();

  /** Something is wrong with {@code subject}. */
  void wrong(Kind kind, String subject, String why, long nowNanos) {
    Entry entry = entries.computeIfAbsent(new Key(kind, subject), key -> new Entry());
    if (!entry.wrong) {
      entry.wrong = true;
      entry.wrongSinceNanos = nowNanos;
    }
    boolean isDue = !entry.logged && nowNanos - entry.wrongSinceNanos >= kind.patienceNanos;
    if (isDue && spend(entry, nowNanos)) {
      String more = entry.unlogged == 0 ? "" : " (and " + entry.unlogged + " times before)";
      LOG.warn("{} {}: {}{}{}", kind.noun, plain(subject), kind.wrong, plain(why), more);
      entry.logged = true;
      entry.unlogged = 0;
    }
  }

  private static boolean spend(Entry entry, long nowNanos) {
    double refill = (nowNanos - entry.allowanceNanos) / NANOS_PER_PAIR;
    entry.allowance = entry.allowance == BURST ? BURST : Math.min(BURST, entry.allowance + refill);
    entry.allowanceNanos = nowNanos;
    if (entry.allowance < 1) {
      return false;
    }
    entry.allowance--;
    return true;
  }

  /** Nothing of that kind is wrong with {@code subject}. */
  void well(Kind kind, String subject, long nowNanos) {
    Entry entry = entries.get(new Key(kind, subject));
    if (entry == null || !entry.wrong) {
      return;
    }
    if (entry.logged) {
      double seconds = (nowNanos - entry.wrongSinceNanos) / NANOS_PER_SECOND;
      LOG.info("{} {}: {} after {} s", kind.noun, plain(subject), kind.well, Math.round(seconds));
    } else if (nowNanos - entry.wrongSinceNanos >= kind.patienceNanos) {
      entry.unlogged++;
    }
    entry.wrong = false;
    entry.logged = false;
  }

  /** Things of that kind that are not among these are there no more, or nothing is wrong. */
  void only(Kind kind, Set<String> subjects) {
    entries.keySet().removeIf(key -> key.kind() == kind && !subjects.contains(key.subject()));
  }

  /** What engines named, as one line. */
  private static String plain(String text) {
    String cut = text.length() > MOST_CHARS ? text.substring(0, MOST_CHARS) + "…" : text;
    return cut.replaceAll("\\p{Cntrl}", "?");
  }
}
