package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.ImageWaits;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.SentImages.Place;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns from what an engine stores which identifiers it gives to the images of the chats that were
 * sent to it, and which tokens stand for them. vLLM has the identifiers in extra keys; SGLang puts
 * an id of the image, of a million at least, in the place of each of its tokens.
 *
 * <p>Thread-safe; {@link #observe} and {@link #stored} are the writer's. If they fail, nothing is
 * learned until the engine's next lifetime; nothing else depends on them.
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
   * under way at the engine when a row of stored blocks arrives are candidates for it, also those
   * whose images are known. A candidate leaves when a stored token, place or identifier is not its
   * own. Something is learned when one of them explains all up to the end of its last image, and all
   * that are left have the same images there.
   *
   * A chat that has been explained stays a candidate: another row that it alone explains, and that
   * has another image, shows that one of the two is a chat's that nobody knows about here. Then
   * neither is believed. What is believed wrongly all the same shows in cached_tokens.
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
   *
   * Where ids stand for images, an image begins and ends where its ids do, which is certain once
   * another token is seen. But a row may begin within an image, and look as one that begins there.
   * So nothing is learned unless the index has the row where the chat has it, up to its end: behind
   * a part of an image its text does not follow. Images with other tokens among theirs (Gemma 3,
   * Llama 4) do not look like the text's place for one, and are not learned. Releases that hash all
   * images of a chat together give them one id; where different images have the same nothing is
   * learned either.
   *
   * The times are those of the router: of two chats whose rows come late, only those are candidates
   * that were under way when the row arrived. A replay does not say when its rows were stored;
   * nothing is learned from it.
   *
   * Of some chats under way nothing is known here: there was no room for them, or their images were
   * not read. Each row that arrives meanwhile may be theirs, or go on with one of theirs; so of such
   * rows only those are read whose candidates know how the engine names their images. A name that
   * fits proves the image, whose chat it may be.
   */

  private static final Logger LOG = LoggerFactory.getLogger(ImageLearning.class);

  /** Chats that are read, as many that are not, and what those take in memory, about. */
  private static final int MOST_CHATS = 1024;

  private static final long MOST_BYTES = 4 << 20;

  /** Rows that go on, what they and their candidates take in memory, and how often one is read. */
  private static final int MOST_ROWS = 64;

  private static final long MOST_ROWS_BYTES = 2 << 20;
  private static final int MOST_ROW_TOKENS = 1 << 16;
  private static final int MOST_READINGS = 64;

  /** A row that more chats may have stored is not worth the writer's time. */
  private static final int MOST_CANDIDATES = 32;

  /** Nor one that looks like so many, of which some may have stored the same before. */
  private static final int MOST_ALIKE = 128;

  /** How many blocks are looked up for one row. */
  private static final int MOST_STEPS = 1 << 18;

  /** How much of a text must be seen behind an image whose end nothing else shows, in tokens. */
  private static final int TEXT_TOKENS = 4;

  /** SGLang takes no model that has so many tokens. */
  private static final int FIRST_PAD = 1_000_000;

  /** A chat has fewer images. */
  private static final int MOST_ITEMS = 1024;

  /** Events of a chat that has ended may still be on their way; SGLang tells of them later. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long GRACE_NANOS_IN_TOKENS = TimeUnit.SECONDS.toNanos(10);

  /** Nothing that has arrived waits longer until it is applied. */
  private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A chat on its way. */
  private static final class Way {
    private final SentImages chat;
    private final long sentNanos;

    /** Under the lock. */
    private boolean isOver;

    private long endedNanos;

    /** Whether it found all of its images in the cache, and stored none. */
    private volatile boolean foundAll;

    /** What was learned of its images, by place. The writer's. */
    private final Map<Integer, String> shown = new HashMap<>();

    /** The blocks of what is known of it. The writer's. */
    private @Nullable BlockChain chain;

    Way(SentImages chat, long sentNanos) {
      this.chat = chat;
      this.sentNanos = sentNanos;
    }

    BlockChain chain(ChainSpace space) {
      BlockChain known = chain;
      if (known == null || !known.space().equals(space)) {
        known = BlockChain.of(space, chat.ids(), chat.keys());
        chain = known;
      }
      return known;
    }
  }

  private final StreamCounters counters;

  /** Whether ids among the tokens stand for images. */
  private final boolean isInTokens;

  private final long graceNanos;

  /** Chats by their requests, in the order in which they were sent. */
  private final Map<Object, Way> chats = new LinkedHashMap<>();

  /** Those of them that have ended, in this order. */
  private final Deque<Way> ended = new ArrayDeque<>();

  private long bytes;

  /** The requests of chats under way of which nothing is known, in the order of their coming. */
  private final Set<Object> unread = new LinkedHashSet<>();

  /** Rows that arrived earlier may be of such a chat. */
  private long blindUntilNanos;

  private boolean wasBlind;
  private boolean isBroken;
  private volatile boolean waits;

  private final PrefixMatches matches = new PrefixMatches();

  /** Rows of stored blocks by the engine hash of the last one. The writer's. */
  private final Map<Long, Row> rows = new LinkedHashMap<>();

  private @Nullable Row grown;

  /**
   * @param isInTokens whether ids among the tokens stand for images, as SGLang has it
   */
  ImageLearning(StreamCounters counters, boolean isInTokens) {
    this.counters = counters;
    this.isInTokens = isInTokens;
    this.graceNanos = isInTokens ? GRACE_NANOS_IN_TOKENS : GRACE_NANOS;
  }

  /**
   * A chat, and which of its places the first image that begins in a row may be.
   *
   * @param isPlaced whether it is known where that place is; behind an unknown image it is not, and
   *     the chat teaches nothing, but what others teach must be so of it, too
   */
  private record Candidate(Way way, int place, boolean isPlaced, boolean foundAll) {
    Place placeOf(int item) {
      return way.chat.places().get(place + item);
    }

    int places() {
      return way.chat.places().size() - place;
    }

    /** How many of the tokens right before an image of it are known. */
    int textBefore() {
      if (place == 0) {
        return placeOf(0).from();
      }
      Place before = placeOf(-1);
      return placeOf(0).from() - (isPlaced ? 0 : before.from() + before.placedTokens());
    }

    boolean mayHave(int item, String identifier) {
      List<PromptKeys.Item> known = way.chat.keys().items();
      if (foundAll && place + item < known.size()) {
        return known.get(place + item).identifier().equals(identifier);
      }
      Set<String> identifiers = placeOf(item).identifiers();
      return identifiers.isEmpty() || identifiers.contains(identifier);
    }

    /** Whether it is known of each image that may be in a row how the engine calls it. */
    boolean isNamed() {
      return way.chat.places().stream().skip(place).noneMatch(one -> one.identifiers().isEmpty());
    }

    /** Whether another image was seen at one of the places. */
    boolean isOther(List<Found> items) {
      for (int i = 0; i < items.size(); i++) {
        String before = way.shown.get(place + i);
        if (before != null && !before.equals(items.get(i).identifier)) {
          return true;
        }
      }
      return false;
    }

    void learn(int item, String identifier, int[] run) {
      if (way.shown.putIfAbsent(place + item, identifier) == null) {
        placeOf(item).source().learned(identifier, run);
      }
    }

    void withdraw(List<Found> items) {
      for (int i = 0; i < items.size(); i++) {
        String before = way.shown.get(place + i);
        if (before != null && !before.equals(items.get(i).identifier)) {
          placeOf(i).source().withdrawn(before);
        }
      }
    }
  }

  /**
   * An image in a row.
   *
   * @param firstEnd where it may end at the earliest, behind its first token
   * @param end where it may end at the latest: where the last block does that has it
   */
  private record Found(String identifier, int from, int firstEnd, int end) {
    static Found inBlock(String identifier, int from, int blockFrom, int blockEnd) {
      return new Found(identifier, from, Math.max(from, blockFrom) + 1, blockEnd);
    }

    /** One of which the end is known. */
    static Found exact(String identifier, int from, int end) {
      return new Found(identifier, from, end, end);
    }
  }

  /** Consecutive blocks, from the one in which an image begins. */
  private static final class Row {
    private final int blockSizeTokens;
    private final int offset;
    private final long firstLocalHash;

    /** What tells the first block apart beside images. */
    private final List<ExtraKey> plainKeys;

    private int[] tokens = {};
    private int count;

    /** Images that begin here. */
    private final List<Found> items = new ArrayList<>();

    /** Who may have stored it; null until it is looked at. */
    private @Nullable List<Candidate> candidates;

    private boolean isNew;
    private boolean hasLost;
    private int readings;
    private int steps;

    Row(int blockSizeTokens, int offset, long firstLocalHash, List<ExtraKey> keys) {
      this.blockSizeTokens = blockSizeTokens;
      this.offset = offset;
      this.firstLocalHash = firstLocalHash;
      plainKeys = keys.stream().filter(key -> !(key instanceof ExtraKey.Multimodal)).toList();
    }

    void add(int[] block, List<ExtraKey> keys) {
      int from = count;
      append(block, 0, block.length);
      for (ExtraKey key : keys) {
        if (key instanceof ExtraKey.Multimodal item && from + item.offset() >= 0) {
          add(Found.inBlock(item.identifier(), from + item.offset(), from, count));
        }
      }
    }

    /** Adds blocks of which each image is a run of one id. */
    void add(int[] ids, int from) {
      int at = count;
      append(ids, from, ids.length);
      while (at < count && items.size() < MOST_ITEMS) {
        int end = runEnd(at);
        if (isPad(tokens[at])) {
          add(Found.exact("pad:" + tokens[at], runBegin(at), end));
        }
        at = end;
      }
    }

    private int runBegin(int at) {
      Found last = items.isEmpty() ? null : items.get(items.size() - 1);
      return last != null && last.end == at && tokens[at - 1] == tokens[at] ? last.from : at;
    }

    private int runEnd(int at) {
      int end = at + 1;
      while (end < count && tokens[end] == tokens[at]) {
        end++;
      }
      return end;
    }

    private void append(int[] more, int from, int to) {
      int end = count + to - from;
      if (tokens.length < end) {
        tokens = Arrays.copyOf(tokens, 2 * end);
      }
      System.arraycopy(more, from, tokens, count, to - from);
      count = end;
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
    if (isBroken) {
      return;
    }
    forget(nowNanos - LONGEST_WAIT_NANOS, true);
    unread.remove(chat.request());
    Way before = chats.get(chat.request());
    if (before != null) {
      leave(before);
    }
    bytes += chat.bytes();
    chats.put(chat.request(), new Way(chat, nowNanos));
    while (chats.size() > MOST_CHATS || (bytes > MOST_BYTES && chats.size() > 1)) {
      Way oldest = chats.values().iterator().next();
      leave(oldest);
      if (oldest.isOver) {
        blindUntil(oldest.endedNanos + graceNanos);
      } else {
        addUnread(oldest.chat.request(), nowNanos);
      }
    }
    waits = true;
  }

  /**
   * A chat is sent to the engine now that may have images of which nothing is known.
   *
   * @param request by what it is known when it ends, which may be said once its prompt is computed
   */
  synchronized void sentUnread(Object request, long nowNanos) {
    if (!isBroken) {
      addUnread(request, nowNanos);
    }
  }

  /** One that makes room is taken to be computed a long time later. */
  private void addUnread(Object request, long nowNanos) {
    unread.add(request);
    Iterator<Object> oldest = unread.iterator();
    while (unread.size() > MOST_CHATS) {
      oldest.next();
      oldest.remove();
      blindUntil(nowNanos + LONGEST_WAIT_NANOS);
    }
  }

  /**
   * A chat has ended, or its engine has told what it found.
   *
   * @param foundAll whether the engine found all images in its cache
   */
  synchronized void ended(Object request, boolean foundAll, long nowNanos) {
    Way way = chats.get(request);
    if (way != null) {
      way.foundAll |= foundAll;
      if (!way.isOver) {
        way.isOver = true;
        way.endedNanos = nowNanos;
        ended.add(way);
      }
    } else if (unread.remove(request)) {
      blindUntil(nowNanos + graceNanos);
    }
  }

  /** Rows that arrive until then may be of a chat of which nothing is known. */
  private void blindUntil(long until) {
    blindUntilNanos = wasBlind && blindUntilNanos - until > 0 ? blindUntilNanos : until;
    wasBlind = true;
  }

  /**
   * Forgets the chats that had ended long enough before a row arrived at this time.
   *
   * @param mayBeLate whether rows that arrived earlier may still come
   */
  private synchronized void forget(long arrivedNanos, boolean mayBeLate) {
    Way first = ended.peek();
    while (first != null && arrivedNanos - first.endedNanos > graceNanos) {
      leave(first);
      if (mayBeLate) {
        blindUntil(first.endedNanos + graceNanos);
      }
      first = ended.peek();
    }
    waits = !chats.isEmpty();
  }

  private void leave(Way way) {
    chats.remove(way.chat.request());
    ended.remove(way);
    bytes -= way.chat.bytes();
  }

  /** The chats that are known and whose row may have arrived at this time. */
  private synchronized List<Way> underWay(long arrivedNanos) {
    return chats.values().stream().filter(way -> way.sentNanos - arrivedNanos <= 0).toList();
  }

  /** Whether a row that arrived at this time may be of a chat of which nothing is known. */
  private synchronized boolean isBlind(long arrivedNanos) {
    return !unread.isEmpty() || (wasBlind && arrivedNanos - blindUntilNanos <= 0);
  }

  /** What waits, beside {@code names}. */
  synchronized ImageWaits waiting(int names) {
    return new ImageWaits(names, chats.size(), unread.size(), bytes);
  }

  /** The next lifetime stores anew; chats that are under way may be seen by it. */
  void reset() {
    synchronized (this) {
      for (Way way : chats.values()) {
        if (!way.isOver) {
          unread.add(way.chat.request());
        }
      }
      chats.clear();
      ended.clear();
      bytes = 0;
      isBroken = false;
      waits = false;
    }
    rows.clear();
    grown = null;
  }

  private void failed(RuntimeException thrown) {
    LOG.error("no more is learned of an engine's images: a bug of the router", thrown);
    counters.add(StreamCounter.IMAGE_FAILURES);
    synchronized (this) {
      reset();
      unread.clear();
      isBroken = true;
    }
  }

  /**
   * The engine has stored blocks on its GPU, whose names were made; the index has them not yet.
   *
   * @param arrivedNanos when that was heard, {@link StreamMessage#UNTIMED} if it was not heard live
   */
  void observe(
      long[] hashes, EventRow store, KvIndex index, int slot, ChainSpace space, long arrivedNanos) {
    grown = null;
    if (!waits) {
      if (!rows.isEmpty()) {
        rows.clear();
      }
      return;
    }
    try {
      if (arrivedNanos != StreamMessage.UNTIMED) {
        forget(arrivedNanos, false);
      }
      Row row = row(hashes, store, arrivedNanos);
      if (row != null && takes(row, index, slot, space, arrivedNanos)) {
        rows.put(hashes[store.hashFrom() + store.hashCount() - 1], row);
        makeRoom();
        grown = row;
      }
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private @Nullable Row row(long[] hashes, EventRow store, long arrivedNanos) {
    Row begun = store.atRoot() ? null : rows.remove(store.parent());
    if (arrivedNanos == StreamMessage.UNTIMED || store.lookaheadTokens() > 0) {
      return null;
    }
    if (isInTokens) {
      return growByTokens(begun, hashes, store);
    }
    return begun == null && !hasImages(store) ? null : grow(begun, hashes, store);
  }

  private static boolean hasImages(EventRow store) {
    for (List<ExtraKey> keys : store.keys().perBlock()) {
      if (begins(keys) >= 0) {
        return true;
      }
    }
    return false;
  }

  private boolean takes(Row row, KvIndex index, int slot, ChainSpace space, long arrivedNanos) {
    List<Candidate> candidates = row.candidates;
    if (candidates == null) {
      candidates = candidates(row, false, arrivedNanos);
      if (candidates == null || !mayLook(row, candidates, 1)) {
        return false;
      }
      candidates.removeIf(one -> one.isPlaced && isHeld(one, row, index, slot, space));
      row.candidates = candidates;
      row.isNew = true;
    } else if (isBlind(arrivedNanos) && !candidates.stream().allMatch(Candidate::isNamed)) {
      return false;
    }
    return candidates.stream().anyMatch(Candidate::isPlaced)
        && candidates.size() <= MOST_CANDIDATES
        && row.count <= MOST_ROW_TOKENS
        && ++row.readings <= MOST_READINGS;
  }

  /** Whether so many blocks of a row may be looked up where the candidates have them. */
  private static boolean mayLook(Row row, List<Candidate> candidates, int ofRow) {
    for (Candidate one : candidates) {
      row.steps += one.isPlaced ? one.placeOf(0).from() / row.blockSizeTokens + ofRow : 0;
    }
    return row.steps <= MOST_STEPS;
  }

  private void makeRoom() {
    long all = rows.values().stream().mapToLong(ImageLearning::bytes).sum();
    Iterator<Row> oldest = rows.values().iterator();
    while (rows.size() > MOST_ROWS || all > MOST_ROWS_BYTES) {
      all -= bytes(oldest.next());
      oldest.remove();
    }
  }

  /** With its candidates, which may have left. */
  private static long bytes(Row row) {
    List<Candidate> chats = row.candidates == null ? List.of() : row.candidates;
    return (long) Integer.BYTES * row.tokens.length
        + chats.stream().mapToLong(one -> one.way.chat.bytes()).sum();
  }

  private static @Nullable Row grow(@Nullable Row begun, long[] hashes, EventRow store) {
    Row row = begun;
    int size = store.blockSizeTokens();
    int[] ids = store.tokenIds();
    for (int i = 0; i < store.hashCount(); i++) {
      List<ExtraKey> keys = store.extraKeys(i);
      int offset = row == null ? begins(keys) : -1;
      if (offset >= 0) {
        row = new Row(size, offset, hashes[store.hashFrom() + store.hashCount() + i], keys);
      }
      if (row != null) {
        row.add(Arrays.copyOfRange(ids, i * size, (i + 1) * size), keys);
      }
    }
    return row;
  }

  private static @Nullable Row growByTokens(@Nullable Row begun, long[] hashes, EventRow store) {
    int[] ids = store.tokenIds();
    if (begun != null) {
      begun.add(ids, 0);
      return begun;
    }
    int first = 0;
    while (first < ids.length && !isPad(ids[first])) {
      first++;
    }
    if (first == ids.length) {
      return null;
    }
    int size = store.blockSizeTokens();
    int block = first / size;
    long localHash = hashes[store.hashFrom() + store.hashCount() + block];
    Row row = new Row(size, first % size, localHash, store.extraKeys(block));
    row.add(ids, block * size);
    return row;
  }

  /** Whether an id stands for an image where ids do. */
  private static boolean isPad(int id) {
    return id < 0 || id >= FIRST_PAD;
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

  /** The index has what was observed last, which arrived at this time. */
  void stored(KvIndex index, int slot, ChainSpace space, long arrivedNanos) {
    Row row = grown;
    if (row == null || row.candidates == null) {
      return;
    }
    grown = null;
    try {
      if (row.isNew) {
        row.isNew = false;
        if (!mayLook(row, row.candidates, 1)) {
          rows.values().remove(row);
          return;
        }
        row.candidates.removeIf(one -> one.isPlaced && !isHeld(one, row, index, slot, space));
      }
      if (isRead(row, row.candidates, index, slot, space, arrivedNanos)) {
        rows.values().remove(row);
      }
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  /** Learns from a row what it shows; whether it can show no more. */
  private boolean isRead(
      Row row,
      List<Candidate> candidates,
      KvIndex index,
      int slot,
      ChainSpace space,
      long arrivedNanos) {
    if (isInTokens && !mayLook(row, candidates, row.count / row.blockSizeTokens)) {
      return true;
    }
    Map<Candidate, List<Found>> explained = new HashMap<>();
    row.hasLost |=
        candidates.removeIf(one ->
            !new Reading(row, one).explain(explained)
                || (isInTokens
                    && explained.containsKey(one)
                    && !isHeldWhole(one, row, index, slot, space)));
    explained.keySet().retainAll(candidates);
    if (candidates.stream().noneMatch(Candidate::isPlaced)) {
      return true;
    }
    if (explained.isEmpty()) {
      return false;
    }
    List<Candidate> all = new ArrayList<>(candidates);
    all.removeIf(one -> one.isOther(row.items));
    if (all.isEmpty()) {
      explained.forEach(Candidate::withdraw);
      return true;
    }
    if (row.hasLost || row.items.size() > 1) {
      List<Candidate> later = candidates(row, true, arrivedNanos);
      if (later == null || !mayLook(row, later, 1)) {
        return true;
      }
      later.removeIf(
          one -> one.isOther(row.items) || (one.isPlaced && !isHeld(one, row, index, slot, space)));
      all.addAll(later);
    }
    explained.keySet().retainAll(all);
    Set<List<Found>> readings = Set.copyOf(explained.values());
    if (readings.size() != 1 || !agree(all, row.items.size())) {
      return false;
    }
    List<Found> reading = readings.iterator().next();
    for (Candidate one : explained.keySet()) {
      for (int i = 0; i < reading.size(); i++) {
        Found found = reading.get(i);
        one.learn(i, found.identifier, Arrays.copyOfRange(row.tokens, found.from, found.end));
      }
    }
    return true;
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

  /** The chats whose texts and images may be those of a row; null if there may be others. */
  private @Nullable List<Candidate> candidates(Row row, boolean foundAll, long arrivedNanos) {
    List<Candidate> all = new ArrayList<>();
    List<Way> ways;
    boolean isBlind;
    synchronized (this) {
      ways = underWay(arrivedNanos);
      isBlind = isBlind(arrivedNanos);
    }
    for (Way way : ways) {
      boolean hasFoundAll = way.foundAll;
      int places = hasFoundAll && !foundAll ? 0 : way.chat.places().size();
      for (int place = 0; place < places; place++) {
        boolean isPlaced = place <= way.chat.keys().items().size();
        Candidate candidate = new Candidate(way, place, isPlaced, hasFoundAll);
        int from = way.chat.places().get(place).from();
        if ((!isPlaced || from % row.blockSizeTokens == row.offset)
            && hasPlainKeys(candidate, row)
            && new Reading(row, candidate).explain(new HashMap<>())) {
          all.add(candidate);
          if (all.size() > MOST_ALIKE || (isBlind && !candidate.isNamed())) {
            return null;
          }
        }
      }
    }
    return all;
  }

  /** Whether the row's first block has the adapter and the salt that it would have of the chat. */
  private static boolean hasPlainKeys(Candidate candidate, Row row) {
    PromptKeys keys = candidate.way.chat.keys();
    PromptKeys plain = new PromptKeys(keys.loraName(), keys.cacheSalt());
    int block = candidate.placeOf(0).from() / row.blockSizeTokens;
    return plain.of(block, row.blockSizeTokens).equals(row.plainKeys)
        || (!candidate.isPlaced && plain.of(1, row.blockSizeTokens).equals(row.plainKeys));
  }

  /**
   * Whether the engine holds a block like the row's first where the candidate has it. The row is
   * the candidate's if that is so since the row is stored.
   */
  private boolean isHeld(Candidate candidate, Row row, KvIndex index, int slot, ChainSpace space) {
    return isHeld(candidate, row, 1, index, slot, space);
  }

  /** Whether the engine holds all blocks of the row where the candidate has them. */
  private boolean isHeldWhole(
      Candidate candidate, Row row, KvIndex index, int slot, ChainSpace space) {
    return isHeld(candidate, row, row.count / row.blockSizeTokens, index, slot, space);
  }

  private boolean isHeld(
      Candidate candidate, Row row, int ofRow, KvIndex index, int slot, ChainSpace space) {
    int size = row.blockSizeTokens;
    int blocks = candidate.placeOf(0).from() / size;
    BlockChain text = candidate.way.chain(space);
    long[] hashes = new long[blocks + ofRow];
    for (int i = 0; i < blocks; i++) {
      hashes[i] = text.localHash(i);
    }
    hashes[blocks] = row.firstLocalHash;
    PromptKeys plain = new PromptKeys(candidate.way.chat.keys().loraName(), null);
    for (int i = 1; i < ofRow; i++) {
      hashes[blocks + i] = BlockHasher.localHash(row.tokens, i * size, size, plain.of(1, size));
    }
    int tokens = hashes.length * size;
    index.match(BlockChain.ofLocalHashes(space, tokens + size, hashes), matches);
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
      this.ids = candidate.way.chat.ids();
    }

    /** False if the row is not the chat's; its images are added if they all have ended. */
    boolean explain(Map<Candidate, List<Found>> explained) {
      int from = candidate.placeOf(0).from();
      int known = Math.min(row.offset, candidate.textBefore());
      if (row.items.size() > candidate.places()
          || (candidate.isPlaced && known < row.offset)
          || !isText(from - known, row.offset - known, known)) {
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
        found.add(Found.exact(item.identifier, item.from, end));
      }
      if (found.size() == candidate.places() && candidate.isPlaced && areApart(found)) {
        explained.put(candidate, found);
      }
      return true;
    }

    /** Whether each image has an identifier of its own, which ids may not be. */
    private boolean areApart(List<Found> found) {
      Map<String, Object> sources = new HashMap<>();
      for (int i = 0; i < found.size(); i++) {
        Object source = candidate.placeOf(i).source();
        Object other = sources.putIfAbsent(found.get(i).identifier, source);
        if (other != null && !other.equals(source)) {
          return false;
        }
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
      for (int end = item.firstEnd; end <= item.end; end++) {
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
      boolean isThere = end >= item.firstEnd && end <= item.end;
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
