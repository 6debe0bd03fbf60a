package dev.warmpath.kvindex.stopped;

import dev.warmpath.kvindex.runs.Holdings;
import dev.warmpath.kvindex.runs.Room.SlabMover;
import dev.warmpath.kvindex.runs.RunHeaders;
import dev.warmpath.kvindex.runs.Runs;
import java.util.Set;
import org.objectweb.asm.Type;

/** Run indexes in which some methods change runs but leave their versions alone. */
enum VersionMutant {
  MOVES_SLABS(SlabMover.class, "move"),
  MOVES_LISTS(Holdings.class, "giveBackLists"),
  ADDS_HOLDERS(Holdings.class, "hold"),
  TAKES_HOLDERS(Holdings.class, "release"),
  HANGS_CHILDREN(Runs.class, "hang", "drop");

  private static final String HEADERS = Type.getInternalName(RunHeaders.class);

  private final String owner;
  private final Set<String> methods;

  VersionMutant(Class<?> owner, String... methods) {
    this.owner = Type.getInternalName(owner);
    this.methods = Set.of(methods);
  }

  boolean isWrongIn(String owner, String method) {
    return this.owner.equals(owner) && methods.contains(method);
  }

  /** Whether a call is the beginning or the end of a change. */
  static boolean changesVersion(String owner, String method) {
    return owner.equals(HEADERS) && (method.equals("begin") || method.equals("end"));
  }
}
