package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Works out what an exact index answers to a corpus, with plain sets.
 *
 * <p>For workers with one group of full attention. Refuses a corpus on which counting copies and
 * counting presence could differ, or whose stores do not say what they store: a stored block that
 * is held already, a removed one that is not, a parent that is not held.
 *
 * <p>Confined to the thread that feeds it.
 */
final class CorpusModel implements CorpusSink {

  private final CorpusSink next;
  private final BlockNumbers numbers = new BlockNumbers();
  private final HeldBlocks held = new HeldBlocks();
  private final List<Map<Long, Integer>> numberOfHash = new ArrayList<>();
  private final List<int[]> chains = new ArrayList<>();
  private Sums interleaved = Sums.NONE;
  private long records;

  /** Passes all records on to {@code next}. */
  CorpusModel(CorpusSink next) {
    this.next = next;
  }

  @Override
  public void stored(int worker, StoredBlocks blocks) {
    Map<Long, Integer> names = names(worker);
    int parent = blocks.atRoot() ? BlockNumbers.ROOT : number(worker, blocks.parent(), "parent");
    for (int i = 0; i < blocks.count(); i++) {
      int number = numbers.number(parent, blocks.localHash(i));
      if (!held.add(worker, number) || names.put(blocks.engineHash(i), number) != null) {
        throw refusal(worker, "stores a block that it holds", blocks.engineHash(i));
      }
      parent = number;
    }
    records++;
    next.stored(worker, blocks);
  }

  @Override
  public void removed(int worker, RemovedBlocks blocks) {
    for (int i = 0; i < blocks.count(); i++) {
      long engineHash = blocks.engineHash(i);
      held.remove(worker, number(worker, engineHash, "removed block"));
      names(worker).remove(engineHash);
    }
    records++;
    next.removed(worker, blocks);
  }

  @Override
  public void cleared(int worker) {
    names(worker).values().forEach(number -> held.remove(worker, number));
    names(worker).clear();
    records++;
    next.cleared(worker);
  }

  @Override
  public void query(int worker, long[] localHashes, int count) {
    int[] chain = new int[count];
    int parent = BlockNumbers.ROOT;
    for (int i = 0; i < count; i++) {
      parent = numbers.number(parent, localHashes[i]);
      chain[i] = parent;
    }
    chains.add(chain);
    interleaved = interleaved.plus(Sums.of(held.depths(chain)));
    records++;
    next.query(worker, localHashes, count);
  }

  /** The answers to what was fed so far. */
  ExactAnswers answers() {
    Sums atEnd = Sums.NONE;
    for (int[] chain : chains) {
      atEnd = atEnd.plus(Sums.of(held.depths(chain)));
    }
    return new ExactAnswers(interleaved, atEnd, held.memberships());
  }

  private Map<Long, Integer> names(int worker) {
    while (numberOfHash.size() <= worker) {
      numberOfHash.add(new HashMap<>());
    }
    return numberOfHash.get(worker);
  }

  private int number(int worker, long engineHash, String role) {
    Integer number = names(worker).get(engineHash);
    if (number == null) {
      throw refusal(worker, "does not hold the " + role, engineHash);
    }
    return number;
  }

  private IllegalArgumentException refusal(int worker, String what, long engineHash) {
    return new IllegalArgumentException(
        "record %d: worker %d %s %016x".formatted(records, worker, what, engineHash));
  }
}
