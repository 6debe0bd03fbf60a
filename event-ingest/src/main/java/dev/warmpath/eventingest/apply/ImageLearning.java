package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.SentImages.Place;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Learns from what a vLLM engine stores which identifiers it gives to the images of the chats that
 * were sent to it, and which tokens stand for them.
 *
 * <p>Thread-safe; {@link #observe} and {@link #stored} are the writer's.
 */
final class ImageLearning {

  /*
   * Known, because a store says so: the blocks' tokens, the identifiers of the images in them, where
   * each begins (the offset), and, by the index, which has the blocks of a chat's text, of images that
   * stand before in it and of the row's first block in this order since the row is stored, and had
   * them not before, that the row stands there.
   *
   * Believed: that the stored image is that of a chat that was sent there, and not of another that
   * has the same text and that this process knows nothing about. All chats with images that are
   * under way at the engine when a row of stored blocks begins are candidates for it, also those
   * whose images are known. A candidate leaves when a stored token, place or identifier is not its
   * own. Something is learned when one of them explains all up to the end of its last image, and all
   * that are left have the same images there. What is believed wrongly shows in cached_tokens.
   *
   * Blocks behind an image may be another chat's that found the image there. So where more images
   * follow, or their text has made a candidate leave, chats that explain them and came later must
   * have the same images, too.
   *
   *   place of a chat     text  [image ........]  text  [image ..]  text, answer
   *   stored blocks     |tail [im|age .|.......] t|ext [i|mage ..]  t|
   *
   * An image ends where the text behind it begins: before the next image by a known number of
   * tokens, or at the one place where what is stored agrees with the text. A last block that is not
   * full is not stored, so there the text may not be seen; then nothing is learned.
   */

  private static final int MOST_CHATS = 1024;
  private static final long MOST_TOKENS = 2 << 20;
  private static final int MOST_ROWS = 64;
  private static final int MOST_ROW_TOKENS = 1 << 16;

  /** How much of a text must be seen behind an image whose end nothing else shows, in tokens. */
  private static final int TEXT_TOKENS = 4;

  /** Events of a chat that has ended may still be on their way. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * How far a chat is.
   *
   * @param endedNanos when it ended, if it has
   * @param foundAll whether it found all of its images in the cache, and stored none
   */
  private record Way(SentImages chat, boolean isOver, long endedNanos, boolean foundAll) {
    int tokens() {
      return chat.ids().length;
    }
  }

  /** Chats by their requests. */
  private final Map<Object, Way> chats = new LinkedHashMap<>();

  private final PrefixMatches matches = new PrefixMatches();
  private volatile boolean waits;

  /** Rows of stored blocks by the engine hash of the last one. The writer's. */
  private final Map<Long, Row> rows = new LinkedHashMap<>();

  private @Nullable Row grown;

  /** A chat, and which of its places the first image that begins in a row may be. */
  private record Candidate(SentImages chat, int place, boolean foundAll) {
    Place placeOf(int item) {
      return chat.places().get(place + item);
    }

    int places() {
      return chat.places().size() - place;
    }

    boolean mayHave(int item, String identifier) {
      List<PromptKeys.Item> known = chat.keys().items();
      if (foundAll && place + item < known.size()) {
        return known.get(place + item).identifier().equals(identifier);
      }
      Set<String> identifiers = placeOf(item).identifiers();
      return identifiers.isEmpty() || identifiers.contains(identifier);
    }
  }

  private record Found(String identifier, int from, int end) {}

  /** Consecutive blocks, from the one in which an image begins. */
  private static final class Row {
    private final int blockSizeTokens;
    private final int offset;
    private final long firstLocalHash;
    private int[] tokens = {};
    private int count;

    /** Images that begin here: identifier, first token, end of the last block that has them. */
    private final List<Found> items = new ArrayList<>();

    /** Who may have stored it; null until it is looked at. */
    private @Nullable List<Candidate> candidates;

    private boolean isNew;
    private boolean hasLost;

    Row(int blockSizeTokens, int offset, long firstLocalHash) {
      this.blockSizeTokens = blockSizeTokens;
      this.offset = offset;
      this.firstLocalHash = firstLocalHash;
    }

    void add(int[] block, List<ExtraKey> keys) {
      if (tokens.length < count + block.length) {
        tokens = Arrays.copyOf(tokens, 2 * (count + block.length));
      }
      System.arraycopy(block, 0, tokens, count, block.length);
      for (ExtraKey key : keys) {
        if (key instanceof ExtraKey.Multimodal item && count + item.offset() >= 0) {
          add(new Found(item.identifier(), count + item.offset(), count + block.length));
        }
      }
      count += block.length;
    }

    private void add(Found found) {
      for (int i = 0; i < items.size(); i++) {
        if (items.get(i).from == found.from) {
          items.set(i, found);
          return;
        }
      }
      items.add(found);
    }
  }

  /** A chat is sent to the engine now. */
  synchronized void sent(SentImages chat, long nowNanos) {
    chats.values().removeIf(way -> way.isOver && nowNanos - way.endedNanos > GRACE_NANOS);
    chats.put(chat.request(), new Way(chat, false, 0, false));
    long tokens = chats.values().stream().mapToLong(Way::tokens).sum();
    Iterator<Way> oldest = chats.values().iterator();
    while (chats.size() > MOST_CHATS || (tokens > MOST_TOKENS && chats.size() > 1)) {
      tokens -= oldest.next().tokens();
      oldest.remove();
    }
    waits = true;
  }

  /**
   * A chat has ended, or its engine has told what it found.
   *
   * @param foundAll whether the engine found all images in its cache
   */
  synchronized void ended(Object request, boolean foundAll, long nowNanos) {
    chats.computeIfPresent(
        request, (same, way) -> new Way(way.chat, true, nowNanos, foundAll || way.foundAll));
  }

  private synchronized void forget(SentImages chat) {
    chats.remove(chat.request());
    waits = !chats.isEmpty();
  }

  private synchronized List<Way> underWay() {
    return new ArrayList<>(chats.values());
  }

  /** Chats that are under way, or were a moment ago. */
  synchronized int waiting() {
    return chats.size();
  }

  /** The next lifetime stores anew. */
  void reset() {
    synchronized (this) {
      chats.clear();
      waits = false;
    }
    rows.clear();
    grown = null;
  }

  /** The engine has stored blocks on its GPU, whose names were made; the index has them not yet. */
  void observe(long[] hashes, EventRow store, KvIndex index, int slot, ChainSpace space) {
    grown = null;
    if (!waits) {
      if (!rows.isEmpty()) {
        rows.clear();
      }
      return;
    }
    boolean hasImages = !store.keys().perBlock().isEmpty();
    Row begun = store.atRoot() ? null : rows.remove(store.parent());
    if (store.lookaheadTokens() > 0 || (begun == null && !hasImages)) {
      return;
    }
    Row row = grow(begun, hashes, store);
    if (row == null || row.count > MOST_ROW_TOKENS) {
      return;
    }
    if (row.candidates == null) {
      row.candidates = candidates(row, false);
      row.candidates.removeIf(one -> isHeld(one, row, index, slot, space));
      row.isNew = true;
    }
    if (!row.candidates.isEmpty()) {
      rows.put(hashes[store.hashFrom() + store.hashCount() - 1], row);
      grown = row;
    }
    if (rows.size() > MOST_ROWS) {
      rows.remove(rows.keySet().iterator().next());
    }
  }

  private static @Nullable Row grow(@Nullable Row begun, long[] hashes, EventRow store) {
    Row row = begun;
    int size = store.blockSizeTokens();
    int[] ids = store.tokenIds();
    for (int i = 0; i < store.hashCount(); i++) {
      List<ExtraKey> keys = store.extraKeys(i);
      int offset = row == null ? begins(keys) : -1;
      if (offset >= 0) {
        row = new Row(size, offset, hashes[store.hashFrom() + store.hashCount() + i]);
      }
      if (row != null) {
        row.add(Arrays.copyOfRange(ids, i * size, (i + 1) * size), keys);
      }
    }
    return row;
  }

  /** Where the first image begins that begins in a block; −1 for none. */
  private static int begins(List<ExtraKey> keys) {
    int first = -1;
    for (ExtraKey key : keys) {
      if (key instanceof ExtraKey.Multimodal item && item.offset() >= 0) {
        first = first < 0 ? item.offset() : Math.min(first, item.offset());
      }
    }
    return first;
  }

  /** The index has what was observed last. */
  void stored(KvIndex index, int slot, ChainSpace space) {
    Row row = grown;
    if (row == null || row.candidates == null) {
      return;
    }
    grown = null;
    if (row.isNew) {
      row.isNew = false;
      row.candidates.removeIf(one -> !isHeld(one, row, index, slot, space));
    }
    conclude(row, row.candidates, index, slot, space);
  }

  private void conclude(
      Row row, List<Candidate> candidates, KvIndex index, int slot, ChainSpace space) {
    Map<Candidate, List<Found>> explained = new HashMap<>();
    row.hasLost |= candidates.removeIf(one -> !new Reading(row, one).explain(explained));
    if (candidates.isEmpty()) {
      rows.values().remove(row);
      return;
    }
    List<Candidate> all = new ArrayList<>(candidates);
    if (!explained.isEmpty() && (row.hasLost || row.items.size() > 1)) {
      List<Candidate> later = candidates(row, true);
      later.removeIf(one -> !isHeld(one, row, index, slot, space));
      all.addAll(later);
    }
    if (explained.isEmpty() || !agree(all, row.items.size())) {
      return;
    }
    Set<List<Found>> readings = Set.copyOf(explained.values());
    if (readings.size() > 1) {
      return;
    }
    Candidate one = explained.keySet().iterator().next();
    int item = 0;
    for (Found found : readings.iterator().next()) {
      int[] run = Arrays.copyOfRange(row.tokens, found.from, found.end);
      one.placeOf(item++).source().learned(found.identifier, run);
    }
    explained.keySet().forEach(done -> forget(done.chat));
    rows.values().remove(row);
  }

  /** Whether the candidates have the same images where images were stored. */
  private static boolean agree(Collection<Candidate> candidates, int items) {
    List<Object> sources = null;
    for (Candidate candidate : candidates) {
      List<Object> own = new ArrayList<>();
      for (int i = 0; i < Math.min(items, candidate.places()); i++) {
        own.add(candidate.placeOf(i).source());
      }
      if (sources != null && !sources.equals(own)) {
        return false;
      }
      sources = own;
    }
    return true;
  }

  /** The chats whose texts and images may be those of a row. */
  private List<Candidate> candidates(Row row, boolean foundAll) {
    List<Candidate> all = new ArrayList<>();
    for (Way way : underWay()) {
      SentImages chat = way.chat;
      int last =
          way.foundAll && !foundAll
              ? -1
              : Math.min(chat.places().size() - 1, chat.keys().items().size());
      for (int place = 0; place <= last; place++) {
        Candidate candidate = new Candidate(chat, place, way.foundAll);
        if (chat.places().get(place).from() % row.blockSizeTokens == row.offset
            && new Reading(row, candidate).explain(new HashMap<>())) {
          all.add(candidate);
        }
      }
    }
    return all;
  }

  /**
   * Whether the engine holds a block like the row's first where the candidate has it. The row is
   * the candidate's if that is so since the row is stored.
   */
  private boolean isHeld(Candidate candidate, Row row, KvIndex index, int slot, ChainSpace space) {
    SentImages chat = candidate.chat;
    int before = candidate.placeOf(0).from() - row.offset;
    int blocks = before / row.blockSizeTokens;
    List<PromptKeys.Item> items =
        chat.keys().items().stream().filter(item -> item.from() < before).toList();
    PromptKeys keys = new PromptKeys(chat.keys().loraName(), chat.keys().cacheSalt(), items);
    BlockChain text = BlockChain.of(space, Arrays.copyOf(chat.ids(), before), keys);
    long[] hashes = new long[blocks + 1];
    for (int i = 0; i < blocks; i++) {
      hashes[i] = text.localHash(i);
    }
    hashes[blocks] = row.firstLocalHash;
    int tokens = (blocks + 1) * row.blockSizeTokens;
    index.match(BlockChain.ofLocalHashes(space, tokens + row.blockSizeTokens, hashes), matches);
    return matches.tokens(slot, StorageTier.GPU) >= tokens;
  }

  /** A row read as what an engine makes of a chat. */
  private static final class Reading {
    private final Row row;
    private final Candidate candidate;
    private final int[] ids;

    Reading(Row row, Candidate candidate) {
      this.row = row;
      this.candidate = candidate;
      this.ids = candidate.chat.ids();
    }

    /** False if the row is not the chat's; its images are added if they all have ended. */
    boolean explain(Map<Candidate, List<Found>> explained) {
      int from = candidate.placeOf(0).from();
      if (row.items.size() > candidate.places() || !isText(from - row.offset, 0, row.offset)) {
        return false;
      }
      List<Found> found = new ArrayList<>();
      for (int i = 0; i < row.items.size(); i++) {
        Place place = candidate.placeOf(i);
        Found item = row.items.get(i);
        int end = candidate.mayHave(i, item.identifier) ? end(i, place, item) : NEVER;
        if (end == NEVER) {
          return false;
        }
        if (end == OPEN) {
          return true;
        }
        found.add(new Found(item.identifier, item.from, end));
      }
      if (found.size() == candidate.places()) {
        explained.put(candidate, found);
      }
      return true;
    }

    private static final int NEVER = -1;
    private static final int OPEN = -2;

    /** Where an image ends: in the last block that has it. */
    private int end(int i, Place place, Found item) {
      int textFrom = place.from() + place.placedTokens();
      int textTokens =
          (i + 1 < candidate.places() ? candidate.placeOf(i + 1).from() : ids.length) - textFrom;
      if (i + 1 < row.items.size()) {
        int end = row.items.get(i + 1).from - textTokens;
        return fits(place, item, end) && isText(textFrom, end, textTokens) ? end : NEVER;
      }
      if (place.isSure()) {
        int end = item.from + place.placedTokens();
        if (end > row.count) {
          return isRun(place, item, row.count) && item.end == row.count ? OPEN : NEVER;
        }
        boolean fits = fits(place, item, end) && isText(textFrom, end, textTokens);
        return !fits ? NEVER : isSeen(i, end, textTokens) ? end : OPEN;
      }
      return searched(i, place, item, textFrom, textTokens);
    }

    private int searched(int i, Place place, Found item, int textFrom, int textTokens) {
      int only = NEVER;
      boolean isOver = item.end < row.count;
      for (int end = Math.max(item.from, item.end - row.blockSizeTokens) + 1;
          end <= item.end;
          end++) {
        boolean isText = end < row.count && isText(textFrom, end, textTokens);
        if (isText && fits(place, item, end) && isEnd(place, end, isOver)) {
          if (only != NEVER) {
            return OPEN;
          }
          only = end;
        }
      }
      if (only == NEVER) {
        return isOver ? NEVER : OPEN;
      }
      return isSeen(i, only, textTokens) ? only : OPEN;
    }

    /** The end of an image is certain if its tokens cannot go on, or if a block has it no more. */
    private boolean isEnd(Place place, int end, boolean isOver) {
      return place.pad() < 0 ? isOver : row.tokens[end] != place.pad();
    }

    /** Whether enough of the text behind is seen; before another image that must be all of it. */
    private boolean isSeen(int i, int end, int textTokens) {
      boolean isLast = i + 1 == candidate.places();
      int seen = row.count - end;
      return isLast && seen >= Math.min(TEXT_TOKENS, textTokens);
    }

    private boolean fits(Place place, Found item, int end) {
      boolean isThere = end > item.from && end > item.end - row.blockSizeTokens && end <= item.end;
      boolean isLong = !place.isSure() || end - item.from == place.placedTokens();
      return isThere && isLong && isRun(place, item, end);
    }

    /** Whether the image's tokens up to {@code end} may be its own. */
    private boolean isRun(Place place, Found item, int end) {
      for (int at = item.from; at < end; at++) {
        int id = row.tokens[at];
        if (place.isSure()
            ? id != ids[place.from() + at - item.from]
            : place.pad() >= 0 && id != place.pad()) {
          return false;
        }
      }
      return true;
    }

    /** Whether the chat's tokens stand in the row, as far as that goes. */
    private boolean isText(int textFrom, int from, int count) {
      int seen = Math.min(count, row.count - from);
      return seen <= 0
          || (textFrom >= 0
              && Arrays.equals(ids, textFrom, textFrom + seen, row.tokens, from, from + seen));
    }
  }
}
