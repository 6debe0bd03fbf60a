package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What readers need to know of all engines and shelves; made anew whenever one of them comes, goes
 * or changes its layout.
 */
final class ReadView {

  /** What a shelf's blocks count for. */
  public static final byte NOTHING = 0;

  /** The only shelf of an engine with one full-attention group: the run of held blocks counts. */
  public static final byte DEPTH = 1;

  /** One of several shelves that are judged together. */
  public static final byte JOINT = 2;

  private static final int SEVERAL = -1;

  public static final ReadView EMPTY =
      new ReadView(
          new RunEngine[0], new CacheLayout[0], new Shelf[0][], new int[0], new byte[0], false, 0);

  private final @Nullable RunEngine[] engines;
  private final @Nullable CacheLayout[] layouts;
  private final Shelf[][] shelves;
  private final int[] slotOfShelf;
  private final byte[] useOfShelf;
  private final boolean uniform;
  private final int withheldTokens;
  private final int droppedBlocks;
  private final boolean joint;
  private final int depthBlockTokens;

  private ReadView(
      @Nullable RunEngine[] engines,
      @Nullable CacheLayout[] layouts,
      Shelf[][] shelves,
      int[] slotOfShelf,
      byte[] useOfShelf,
      boolean joint,
      int depthBlockTokens) {
    this.engines = engines;
    this.layouts = layouts;
    this.shelves = shelves;
    this.slotOfShelf = slotOfShelf;
    this.useOfShelf = useOfShelf;
    List<CacheLayout> counting = counting(layouts, slotOfShelf, useOfShelf);
    withheldTokens = counting.isEmpty() ? 0 : counting.get(0).withheldTokens();
    droppedBlocks = counting.isEmpty() ? 0 : counting.get(0).droppedBlocks();
    uniform =
        counting.stream()
            .allMatch(layout ->
                layout.withheldTokens() == withheldTokens
                    && layout.droppedBlocks() == droppedBlocks);
    this.joint = joint;
    this.depthBlockTokens = depthBlockTokens;
  }

  public static ReadView of(List<@Nullable RunEngine> engines, int shelfBound) {
    CacheLayout[] layouts = new CacheLayout[engines.size()];
    Shelf[][] shelves = new Shelf[engines.size()][];
    int[] slotOfShelf = new int[shelfBound];
    byte[] useOfShelf = new byte[shelfBound];
    boolean joint = false;
    int depthBlockTokens = 0;
    for (int slot = 0; slot < layouts.length; slot++) {
      RunEngine engine = engines.get(slot);
      shelves[slot] = engine == null ? new Shelf[0] : engine.shelves().toArray(new Shelf[0]);
      layouts[slot] = engine == null ? null : alike(layouts, slot, engine.layout());
      boolean alone = engine != null && isAlone(engine);
      for (Shelf shelf : shelves[slot]) {
        slotOfShelf[shelf.id] = slot;
        useOfShelf[shelf.id] = engine == null ? NOTHING : use(engine.layout(), shelf, alone);
        joint |= useOfShelf[shelf.id] == JOINT;
        if (engine != null && useOfShelf[shelf.id] == DEPTH) {
          int tokens = engine.layout().groups().get(0).blockSizeTokens();
          boolean first = depthBlockTokens == 0 || depthBlockTokens == tokens;
          depthBlockTokens = first ? tokens : SEVERAL;
        }
      }
    }
    return new ReadView(
        engines.toArray(new RunEngine[0]),
        layouts,
        shelves,
        slotOfShelf,
        useOfShelf,
        joint,
        depthBlockTokens);
  }

  /** The same object for equal layouts next to each other, so that readers see that they are. */
  private static CacheLayout alike(@Nullable CacheLayout[] layouts, int slot, CacheLayout layout) {
    CacheLayout before = slot == 0 ? null : layouts[slot - 1];
    return before != null && before.equals(layout) ? before : layout;
  }

  public int slots() {
    return layouts.length;
  }

  /** The engine in a slot, whose statistics any thread may read; they may be a moment old. */
  public RunEngine engine(int slot) {
    RunEngine engine = slot >= 0 && slot < engines.length ? engines[slot] : null;
    if (engine == null) {
      throw new IllegalArgumentException("slot=" + slot + " has no engine");
    }
    return engine;
  }

  /** See {@link KvIndex#blocksOnGpu}. */
  public long blocksOnGpu(int slot) {
    RunEngine engine = slot >= 0 && slot < engines.length ? engines[slot] : null;
    if (engine == null) {
      return KvIndex.UNKNOWN;
    }
    for (Shelf shelf : shelves[slot]) {
      if (!isGpu(shelf)) {
        return KvIndex.UNKNOWN;
      }
    }
    return engine.allHeld();
  }

  public int shelfBound() {
    return slotOfShelf.length;
  }

  public @Nullable CacheLayout layout(int slot) {
    return layouts[slot];
  }

  public Shelf[] shelves(int slot) {
    return shelves[slot];
  }

  public int slot(int shelf) {
    return slotOfShelf[shelf];
  }

  /**
   * Whether all engines withhold and drop the same, so that {@link #withheldTokens()} and {@link
   * #droppedBlocks()} hold for each.
   */
  public boolean isUniform() {
    return uniform;
  }

  public int withheldTokens() {
    return withheldTokens;
  }

  public int droppedBlocks() {
    return droppedBlocks;
  }

  /** Whether what the shelf holds counts for anything. */
  public boolean counts(int shelf) {
    return useOfShelf[shelf] != NOTHING;
  }

  /** Whether all that counts is how far each shelf's blocks go without a hole. */
  public boolean goesByDepth(int blockSizeTokens) {
    return !joint && (depthBlockTokens == 0 || depthBlockTokens == blockSizeTokens);
  }

  /** The layouts of all shelves that count for anything. */
  private static List<CacheLayout> counting(
      @Nullable CacheLayout[] layouts, int[] slotOfShelf, byte[] useOfShelf) {
    return IntStream.range(0, slotOfShelf.length)
        .filter(shelf -> useOfShelf[shelf] != NOTHING)
        .mapToObj(shelf -> layouts[slotOfShelf[shelf]])
        .filter(Objects::nonNull)
        .toList();
  }

  /** Whether one full-attention group on the GPU is all that counts. */
  private static boolean isAlone(RunEngine engine) {
    CacheLayout layout = engine.layout();
    return layout.groups().size() == 1
        && layout.groups().get(0).kind() == Kind.FULL_ATTENTION
        && engine.shelves().stream().noneMatch(shelf -> counts(layout, shelf) && !isGpu(shelf));
  }

  private static byte use(CacheLayout layout, Shelf shelf, boolean alone) {
    if (!counts(layout, shelf)) {
      return NOTHING;
    }
    return alone ? DEPTH : JOINT;
  }

  private static boolean counts(CacheLayout layout, Shelf shelf) {
    return layout.groups().stream().anyMatch(group -> group.index() == shelf.group);
  }

  private static boolean isGpu(Shelf shelf) {
    return shelf.tier == StorageTier.GPU;
  }
}
