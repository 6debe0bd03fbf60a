package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.stopped.Scene;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The parts of an index, of which one prompt is moved; what it leaves is given to a prompt of
 * another space, so that no run on the asked path is changed but by the move.
 *
 * <p>Engine 0 holds the moved prompt and engine 1 the other one. A block is a token.
 *
 * <p>Confined to one thread.
 */
abstract class MovedScene implements Scene {

  static final ChainSpace SPACE = new ChainSpace("m", 1, 0);
  static final ChainSpace OTHER = new ChainSpace("n", 1, 0);

  final Runs runs = new Runs(new ByteBudget(Long.MAX_VALUE), 1);
  final Shelves shelves = new Shelves(runs.budget);
  final Holdings holdings = new Holdings(runs, shelves);
  private final Room room =
      new Room(runs, holdings, shelves, run -> {}, () -> Long.MAX_VALUE / 4, () -> false);
  private final Placement placement = new Placement(runs, holdings);
  private final RunEngine.Core core =
      new RunEngine.Core(runs, holdings, placement, shelves, room, new Leftovers());
  private final PathReader reader = new PathReader(runs);
  private final List<RunEngine> engines = new ArrayList<>();
  private final List<Shelf> shelfOfEngine = new ArrayList<>();
  private final PrefixMatches matches = new PrefixMatches();
  private final BlockChain question;

  MovedScene(long... question) {
    this.question = BlockChain.ofLocalHashes(SPACE, question);
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0);
    for (int slot = 0; slot < 2; slot++) {
      RunEngine engine = new RunEngine(slot, CopyCounting.PRESENCE, 0, core);
      engine.layout(new CacheLayout(List.of(full), 0, 0));
      engines.add(engine);
      shelfOfEngine.add(engine.openShelf(StorageTier.GPU, 0));
    }
    reader.fleet(ReadView.of(engines, shelves.bound()));
  }

  @Override
  public List<Integer> ask() {
    while (!reader.read(question, matches)) {
      Thread.onSpinWait();
    }
    return List.of(matches.tokens(0), matches.tokens(1));
  }

  final void store(int slot, ChainSpace space, long... hashes) {
    StoredBlocks blocks = new StoredBlocks().atRoot(StorageTier.GPU, 0, space.rootKey());
    Arrays.stream(hashes).forEach(hash -> blocks.add(hash, hash));
    engines.get(slot).stored(shelfOfEngine.get(slot), blocks, 0, hashes.length);
  }
}
