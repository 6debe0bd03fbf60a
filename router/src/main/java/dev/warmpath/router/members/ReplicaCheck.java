package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says whether a replica may be connected to. Implementations are thread-safe. */
@FunctionalInterface
public interface ReplicaCheck {

  /** Takes every replica. */
  ReplicaCheck ANY = (source, replica) -> Verdict.ALLOWED;

  /**
   * Whether a replica may be there.
   *
   * @param refusal why it is refused, as a sentence for an operator; null if it may be there
   * @param addresses of its hosts' names, which are connected to instead of looking the names up
   *     again; of names that are not among them, whatever they stand for
   * @param known whether all names could be looked up
   */
  record Verdict(@Nullable String refusal, Map<String, List<String>> addresses, boolean known) {

    /** It may be there, whatever its names stand for. */
    public static final Verdict ALLOWED = new Verdict(null, Map.of(), true);

    public Verdict {
      addresses = Map.copyOf(addresses);
    }

    /** It may not be there, for this reason. */
    public static Verdict refused(String reason) {
      return new Verdict(reason, Map.of(), true);
    }
  }

  /**
   * Judges a replica before anything connects to it.
   *
   * @param source where it was named
   */
  Verdict judge(String source, ReplicaConfig replica);

  /**
   * The same for all that the sources name, in their order: of each name the first that may be
   * there. To be used once, by one thread.
   */
  default ReplicaCheck firstOfName() {
    Map<String, String> sources = new HashMap<>();
    return (source, replica) -> {
      String taken = sources.get(replica.name());
      if (taken != null) {
        return Verdict.refused("the name is taken by a replica of " + taken);
      }
      Verdict verdict = judge(source, replica);
      if (verdict.refusal() == null) {
        sources.put(replica.name(), source);
      }
      return verdict;
    };
  }

  /**
   * Whether events may be followed at a host that the replica's engine names.
   *
   * @param host an address or a name, in lower case
   */
  default boolean mayFollow(ReplicaConfig replica, String host) {
    return false;
  }
}
