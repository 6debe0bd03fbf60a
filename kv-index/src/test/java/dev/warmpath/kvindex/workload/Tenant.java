package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.workload.Forest.Prompt;
import dev.warmpath.kvindex.workload.Step.Below;
import dev.warmpath.kvindex.workload.Step.Compute;
import dev.warmpath.kvindex.workload.Step.Confirm;
import dev.warmpath.kvindex.workload.Step.Place;
import dev.warmpath.kvindex.workload.Step.Remove;
import dev.warmpath.kvindex.workload.Step.Store;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * One engine that stores parts of prompts and drops parts of what it stored.
 *
 * <p>Confined to one workload.
 */
final class Tenant {

  /** Blocks {@code from … to − 1} of a prompt, stored together. */
  record Span(Prompt prompt, int from, int to, Place place, boolean alias) {}

  private final int number;
  private final int dialect;
  private final Habits habits;
  private final Random random;
  private final List<Span> spans = new ArrayList<>();

  /**
   * @param dialect which engine hashes it gives; engines with the same dialect agree
   */
  Tenant(int number, int dialect, Habits habits, Random random) {
    this.number = number;
    this.dialect = dialect;
    this.habits = habits;
    this.random = random;
  }

  int number() {
    return number;
  }

  void forgetAll() {
    spans.clear();
  }

  /** Stores something of the prompt. */
  List<Step> store(Prompt prompt, int places) {
    Place place = place();
    boolean alias = random.nextInt(100) < habits.odds().alias();
    int to = Forest.corner(random, prompt.blocks());
    int branch = prompt.branches().get(random.nextInt(prompt.branches().size()));
    int from = Math.min(to, random.nextInt(3) == 0 ? branch : Forest.corner(random, to));
    return switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5 -> store(span(prompt, 0, to, place, alias), true, places);
      case 6, 7, 8, 9, 10, 11 -> grow(prompt, place, places);
      case 12, 13, 14 -> store(span(prompt, from, to, place, alias), true, places);
      case 15, 16 -> pieces(span(prompt, from, to, place, alias), places);
      case 17 -> store(span(prompt, from, to, place, alias), false, places);
      default -> again(place, places);
    };
  }

  /** Drops something that it stored, or that it never stored. */
  List<Step> drop(Prompt prompt) {
    if (spans.isEmpty() || random.nextInt(20) == 0) {
      int to = Forest.corner(random, prompt.blocks());
      Span never = span(prompt, Math.max(0, to - 2), to, place(), false);
      return List.of(remove(never, 0, to - never.from, random.nextBoolean()));
    }
    Span span = spans.remove(random.nextInt(spans.size()));
    int blocks = span.to - span.from;
    int a = Forest.corner(random, blocks);
    return switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> dropTail(span, blocks - a, blocks);
      case 4 -> dropTail(span, Math.max(0, blocks - 1), blocks);
      case 5, 6 -> dropTail(span, 0, blocks);
      case 7 -> dropHead(span, Math.min(a, blocks - a));
      case 8 -> dropMiddle(span, Math.min(a, blocks - a), blocks / 2 + 1);
      default -> List.of(shuffled(remove(span, a / 2, a, true)));
    };
  }

  /** It is seen to reuse the beginning of a prompt, whether or not it holds it. */
  Step confirm(Prompt prompt) {
    BlockChain chain = BlockChain.ofLocalHashes(prompt.space(), prompt.localHashes());
    return new Confirm(number, place(), chain, Forest.corner(random, prompt.blocks()));
  }

  /** The hashes that it gives to the first blocks of a prompt are computed. */
  Step compute(Prompt prompt) {
    Span span = span(prompt, 0, Forest.corner(random, prompt.blocks()), place(), false);
    return new Compute(named(span, false));
  }

  private List<Step> grow(Prompt prompt, Place place, int places) {
    int end =
        spans.stream()
            .filter(span -> span.prompt == prompt && span.place.equals(place) && !span.alias)
            .mapToInt(Span::to)
            .max()
            .orElse(0);
    int room = prompt.blocks() - end;
    int added = random.nextBoolean() ? Math.min(1, room) : Forest.corner(random, room);
    return store(span(prompt, end, end + added, place, false), true, places);
  }

  /** In pieces, last one first, so that the blocks of each wait for the next. */
  private List<Step> pieces(Span span, int places) {
    List<Step> steps = new ArrayList<>();
    int to = span.to;
    while (to > span.from && steps.size() < 4) {
      int from = steps.size() == 3 ? span.from : span.from + Forest.corner(random, to - span.from);
      Span piece = span(span.prompt, from, to, span.place, span.alias);
      steps.addAll(store(piece, true, places));
      to = from;
    }
    return steps;
  }

  /** What it stored already, maybe elsewhere, maybe with the name that was missing. */
  private List<Step> again(Place place, int places) {
    if (spans.isEmpty()) {
      return List.of();
    }
    Span span = spans.get(random.nextInt(spans.size()));
    Place where = random.nextBoolean() ? span.place : place;
    return store(span(span.prompt, span.from, span.to, where, span.alias), true, places);
  }

  private List<Step> store(Span span, boolean named, int places) {
    int count = span.to - span.from;
    spans.add(span);
    boolean again = random.nextInt(20) == 0;
    Store store = named(span, again);
    Below below = named ? store.below() : new Below(false, false, 0, again);
    Store told = new Store(number, span.place, below, store.hashes(), store.localHashes());
    boolean lies = count > 0 && random.nextInt(100) < habits.odds().lie();
    return List.of(lies ? lie(told, span, places) : told);
  }

  private Store named(Span span, boolean again) {
    int count = span.to - span.from;
    long[] hashes = new long[count];
    long[] localHashes = new long[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = hash(span, span.from + i);
      localHashes[i] = span.prompt.localHashes()[span.from + i];
    }
    Below below = below(span);
    Below told = new Below(true, below.atRoot(), below.parent(), again);
    return new Store(number, span.place, told, hashes, localHashes);
  }

  private Store lie(Store store, Span span, int places) {
    int at = random.nextInt(store.hashes().length);
    long other = Dialect.hash(dialect, random.nextInt(places));
    long root = span.prompt.space().rootKey();
    switch (random.nextInt(7)) {
      case 4 -> store.hashes()[at] = store.hashes()[random.nextInt(store.hashes().length)];
      case 0 -> store.localHashes()[at]++;
      case 1 -> store.hashes()[at] = root;
      case 2 -> {
        Below elsewhere =
            new Below(store.below().named(), false, random.nextBoolean() ? other : root);
        return new Store(number, span.place, elsewhere, store.hashes(), store.localHashes());
      }
      case 3 -> {
        Below top = new Below(store.below().named(), store.below().named(), root);
        return new Store(number, span.place, top, store.hashes(), store.localHashes());
      }
      default -> store.hashes()[at] = other;
    }
    return store;
  }

  private Below below(Span span) {
    return span.from == 0
        ? new Below(true, true, span.prompt.space().rootKey())
        : new Below(true, false, hash(span, span.from - 1));
  }

  private List<Step> dropTail(Span span, int from, int to) {
    keep(span, 0, from);
    return List.of(remove(span, from, to, true));
  }

  private List<Step> dropHead(Span span, int to) {
    keep(span, to, span.to - span.from);
    return List.of(remove(span, 0, to, false));
  }

  private List<Step> dropMiddle(Span span, int from, int to) {
    int end = Math.min(to, span.to - span.from);
    keep(span, 0, from);
    keep(span, end, span.to - span.from);
    return List.of(remove(span, Math.min(from, end), end, random.nextBoolean()));
  }

  private void keep(Span span, int from, int to) {
    if (from < to) {
      int start = span.from;
      spans.add(span(span.prompt, start + from, start + to, span.place, span.alias));
    }
  }

  /** Of the span's blocks from … to − 1. */
  private Remove remove(Span span, int from, int to, boolean lastFirst) {
    long[] hashes = new long[to - from];
    for (int i = 0; i < hashes.length; i++) {
      hashes[lastFirst ? hashes.length - 1 - i : i] = hash(span, span.from + from + i);
    }
    return new Remove(number, span.place, hashes);
  }

  private Remove shuffled(Remove remove) {
    List<Long> hashes = new ArrayList<>();
    for (long hash : remove.hashes()) {
      hashes.add(hash);
    }
    Collections.shuffle(hashes, random);
    return new Remove(number, remove.place(), hashes.stream().mapToLong(hash -> hash).toArray());
  }

  private Place place() {
    StorageTier tier = StorageTier.GPU;
    if (random.nextInt(100) < habits.odds().slowTier()) {
      tier = StorageTier.values()[random.nextInt(StorageTier.values().length)];
    }
    return new Place(tier, random.nextInt(habits.groups()));
  }

  private long hash(Span span, int block) {
    long hash = Dialect.hash(dialect, span.prompt.places()[block]);
    return span.alias ? hash + Dialect.ALIAS : hash;
  }

  private static Span span(Prompt prompt, int from, int to, Place place, boolean alias) {
    return new Span(prompt, from, to, place, alias);
  }
}
