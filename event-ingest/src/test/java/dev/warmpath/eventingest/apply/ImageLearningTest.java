package dev.warmpath.eventingest.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.ImageWaits;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chats with images at two engines that store them in any order; never a wrong lesson. */
class ImageLearningTest {

  private static final int TARGET = 500;
  private static final int PAD = 600;

  private final Map<String, String> learned = new HashMap<>();
  private final Set<String> withdrawn = new HashSet<>();
  private final Set<String> wrong = new HashSet<>();
  private long now = 1_000_000_000L;
  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));

  /** Of the engines' blocks, in tokens. */
  private int block = 4;

  /** Whether the engines are SGLangs, which put ids of images among the tokens. */
  private boolean inTokens;

  private Engine first = new Engine("a");
  private Engine second = new Engine("b");

  private void sglang(int pageTokens) {
    block = pageTokens;
    inTokens = true;
    first = new Engine("a");
    second = new Engine("b");
  }

  /**
   * An image behind a URL: its identifier and tokens, which the engine alone knows, or the router
   * knows the identifier.
   */
  private static final class Url {
    private final String name;
    private final int lengthTokens;
    private final boolean padded;
    private final boolean named;
    private final boolean inTokens;

    Url(String name, int lengthTokens, boolean padded, boolean named, boolean inTokens) {
      this.name = name;
      this.lengthTokens = lengthTokens;
      this.padded = padded;
      this.named = named && !inTokens;
      this.inTokens = inTokens;
    }

    String identifier() {
      return inTokens ? "pad:" + id() : "digest of " + name;
    }

    /** Half of them do not fit an int. */
    private int id() {
      int hash = name.hashCode() * 0x9e3779b1;
      return hash < 0 ? hash : 1_000_000 + (hash & (1 << 30) - 1);
    }

    int[] run() {
      return IntStream.range(0, lengthTokens)
          .map(i -> inTokens ? id() : padded ? PAD : PAD + 1 + i % 3)
          .toArray();
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Url url && name.equals(url.name);
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }
  }

  private Url url(String name, int lengthTokens, boolean padded) {
    return url(name, lengthTokens, padded, false);
  }

  private Url url(String name, int lengthTokens, boolean padded, boolean named) {
    return new Url(name, lengthTokens, padded, named, inTokens);
  }

  private final class Source implements SentImages.Source {
    private final Url url;

    Source(Url url) {
      this.url = url;
    }

    @Override
    public void learned(String identifier, int[] run) {
      if (identifier.equals(url.identifier()) && Arrays.equals(run, url.run())) {
        learned.put(url.name, identifier);
      } else {
        wrong.add(url.name + " is not " + identifier + " of " + run.length);
      }
    }

    @Override
    public void withdrawn(String identifier) {
      withdrawn.add(url.name);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Source source && source.url.equals(url);
    }

    @Override
    public int hashCode() {
      return url.hashCode();
    }
  }

  /**
   * A chat as the router knows it and as the engine computes it.
   *
   * @param names of its first blocks, different for all that a block has and stands behind
   */
  private record Chat(SentImages sent, int[] tokens, PromptKeys keys, List<String> names) {
    Chat(SentImages sent, int[] tokens, PromptKeys keys) {
      this(sent, tokens, keys, new ArrayList<>());
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }

    String name(int at, int block) {
      while (names.size() <= at) {
        int next = names.size();
        int[] own = Arrays.copyOfRange(tokens, next * block, (next + 1) * block);
        String before = next == 0 ? "" : names.get(next - 1);
        names.add(before + keys.of(next, block) + Arrays.toString(own));
      }
      return names.get(at);
    }
  }

  /** An event on its way to the index. */
  private record Heard(KvEvent event, long arrivedNanos) {}

  private final class Engine {
    private final EventApplier applier;
    private final Map<String, Long> hashes = new HashMap<>();
    private final Map<Long, Integer> children = new HashMap<>();
    private final Deque<Heard> heard = new ArrayDeque<>();
    private final StreamCounters counters = new StreamCounters();
    private long stored;

    Engine(String name) {
      EngineDialect dialect = inTokens ? EngineDialect.SGLANG : EngineDialect.VLLM;
      EngineRules rules = new EngineRules(dialect, 0, dialect.removals(), 0);
      applier =
          new EventApplier(
              index,
              new EngineSource(new EngineId(name, 0), "m", "tcp://x", false, null, rules),
              counters);
    }

    /** Stores blocks {@code [from, to)} of a chat, those that are not in the cache. */
    void store(Chat chat, int from, int to) {
      hear(chat, from, to);
      apply();
    }

    /** Stores all blocks of a chat in one event, none of which are in the cache. */
    void storeAtOnce(Chat chat) {
      int blocks = blocks(chat);
      long begin = 1L << 40 | (long) chat.tokens.length << 20;
      List<List<ExtraKey>> extra =
          IntStream.range(0, blocks).mapToObj(at -> chat.keys.of(at, block)).toList();
      int[] ids = Arrays.copyOf(chat.tokens, blocks * block);
      KvEvent event =
          new KvEvent.BlockStored(
              LongStream.range(begin, begin + blocks).toArray(),
              null,
              new BlockTokens(ids, block, 0, Naming.DENSE),
              new BlockKeys(null, null, extra, Naming.DENSE),
              BlockPlace.GPU,
              new GroupSpec("full_attention", 0));
      applier.apply(ColumnsOf.events(List.of(event)), now);
    }

    /**
     * As {@link #store}, but what it says is not applied yet. SGLang tells of several in one event.
     */
    void hear(Chat chat, int from, int to) {
      int begin = from;
      while (begin < to) {
        int end = begin;
        while (end < to && !hashes.containsKey(name(chat, end)) && (inTokens || end == begin)) {
          add(chat, end++);
        }
        if (end > begin) {
          hear(event(chat, begin, end));
        }
        begin = Math.max(end, begin + 1);
      }
    }

    private void add(Chat chat, int at) {
      long hash = at == 0 && inTokens ? rootHash(chat) : 1L + stored++;
      hashes.put(name(chat, at), hash);
      if (at > 0) {
        children.merge(hashes.get(name(chat, at - 1)), 1, Integer::sum);
      }
    }

    private KvEvent event(Chat chat, int from, int to) {
      int[] ids = Arrays.copyOfRange(chat.tokens, from * block, to * block);
      List<List<ExtraKey>> extra =
          IntStream.range(from, to).mapToObj(i -> chat.keys.of(i, block)).toList();
      BlockKeys keys =
          inTokens
              ? new BlockKeys(chat.keys.loraName(), chat.keys.cacheSalt(), List.of(), Naming.DENSE)
              : new BlockKeys(null, null, extra, Naming.DENSE);
      return new KvEvent.BlockStored(
          IntStream.range(from, to).mapToLong(i -> hashes.get(name(chat, i))).toArray(),
          from == 0 ? null : hashes.get(name(chat, from - 1)),
          new BlockTokens(ids, block, 0, Naming.DENSE),
          keys,
          BlockPlace.GPU,
          new GroupSpec("full_attention", 0));
    }

    private void hear(KvEvent event) {
      heard.add(new Heard(event, now));
    }

    /**
     * Evicts blocks from the end of what it holds of a chat, up to those that others go on from, or
     * that chats under way have.
     */
    void evict(Chat chat, int most, List<Turn> running) {
      int held = held(chat);
      for (int i = held - 1; i >= Math.max(0, held - most); i--) {
        long hash = hashes.get(name(chat, i));
        int at = i;
        if (children.getOrDefault(hash, 0) > 0
            || running.stream().anyMatch(turn -> turn.engine == this && turn.has(chat, at))) {
          return;
        }
        hear(new KvEvent.BlockRemoved(new long[] {hash}, BlockPlace.GPU));
        lose(chat, i);
      }
    }

    /** The same, but nothing is heard of it but that something was lost. */
    void evictUnheard(Chat chat, int most, List<Turn> running) {
      int before = heard.size();
      evict(chat, most, running);
      while (heard.size() > before) {
        heard.removeLast();
      }
      apply();
      applier.suspend();
    }

    /** How many leading blocks of a chat it holds. */
    private int held(Chat chat) {
      int held = 0;
      while (held < blocks(chat) && hashes.containsKey(name(chat, held))) {
        held++;
      }
      return held;
    }

    /** A block is gone, of which nothing is heard. */
    void lose(Chat chat, int at) {
      hashes.remove(name(chat, at));
      if (at > 0) {
        children.merge(hashes.get(name(chat, at - 1)), -1, Integer::sum);
      }
    }

    void apply() {
      while (!heard.isEmpty()) {
        Heard next = heard.remove();
        applier.apply(ColumnsOf.events(List.of(next.event)), next.arrivedNanos);
      }
    }

    void reset() {
      applier.reset();
      hashes.clear();
      children.clear();
    }

    /** Whether all images of a chat are in the cache. */
    boolean holds(Chat chat) {
      List<PromptKeys.Item> items = chat.keys.items();
      PromptKeys.Item last = items.get(items.size() - 1);
      int at = (last.from() + last.lengthTokens() - 1) / block;
      return at < blocks(chat) && hashes.containsKey(name(chat, at));
    }

    private String name(Chat chat, int at) {
      return chat.name(at, block);
    }
  }

  /** SGLang's hash of a first page, by which a hidden name space is told from none. */
  private long rootHash(Chat chat) {
    long[] ids = Arrays.stream(chat.tokens, 0, block).asLongStream().toArray();
    boolean isWide = Arrays.stream(ids).anyMatch(id -> id < 0);
    ByteBuffer page = ByteBuffer.allocate(1 + Long.BYTES * block).order(ByteOrder.LITTLE_ENDIAN);
    if (isWide) {
      page.put((byte) 0xff);
      Arrays.stream(ids).forEach(page::putLong);
    } else {
      Arrays.stream(ids).forEach(id -> page.putInt((int) id));
    }
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      String salt = chat.keys.cacheSalt();
      if (salt != null) {
        sha256.update(sha256.digest(("sglang-cache-salt-v1\0" + salt).getBytes(UTF_8)));
      }
      sha256.update(page.flip());
      String lora = chat.keys.loraName();
      long hash = ByteBuffer.wrap(sha256.digest()).getLong();
      return lora == null ? hash : hash + lora.hashCode(); // an unknown adapter's may be any
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A chat of texts with an image behind each but the last, none of which are known. */
  private Chat chat(List<int[]> texts, List<Url> urls) {
    return chat(PromptKeys.NONE, texts, urls, Set.of());
  }

  /**
   * @param plain adapter and salt
   * @param known of which the router knows identifier and tokens
   */
  private Chat chat(PromptKeys plain, List<int[]> texts, List<Url> urls, Set<Url> known) {
    IntStream.Builder text = IntStream.builder();
    IntStream.Builder computed = IntStream.builder();
    List<SentImages.Place> places = new ArrayList<>();
    List<PromptKeys.Item> items = new ArrayList<>();
    List<PromptKeys.Item> knownItems = new ArrayList<>();
    int at = 0;
    int computedAt = 0;
    for (int i = 0; i < texts.size(); i++) {
      Arrays.stream(texts.get(i)).forEach(text);
      Arrays.stream(texts.get(i)).forEach(computed);
      at += texts.get(i).length;
      computedAt += texts.get(i).length;
      if (i < urls.size()) {
        Url url = urls.get(i);
        boolean isKnown = known.contains(url);
        int[] placed = isKnown ? url.run() : new int[] {TARGET};
        Arrays.stream(placed).forEach(text);
        Arrays.stream(url.run()).forEach(computed);
        int pad = url.padded && !inTokens ? PAD : -1;
        Set<String> identifiers = url.named ? Set.of(url.identifier()) : Set.of();
        places.add(
            new SentImages.Place(at, placed.length, false, pad, identifiers, new Source(url)));
        items.add(new PromptKeys.Item(url.identifier(), computedAt, url.lengthTokens, inTokens));
        if (isKnown && knownItems.size() == i) {
          knownItems.add(new PromptKeys.Item(url.identifier(), at, url.lengthTokens, inTokens));
        }
        at += placed.length;
        computedAt += url.lengthTokens;
      }
    }
    PromptKeys sent = new PromptKeys(plain.loraName(), plain.cacheSalt(), knownItems);
    return new Chat(
        new SentImages(new Object(), text.build().toArray(), sent, places),
        computed.build().toArray(),
        new PromptKeys(plain.loraName(), plain.cacheSalt(), items));
  }

  private static int[] text(int first, int length) {
    return IntStream.range(first, first + length).toArray();
  }

  private int blocks(Chat chat) {
    return chat.tokens.length / block;
  }

  private void sent(Engine engine, Chat chat) {
    engine.applier.sentImages(chat.sent, now);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneChatTellsOfAllItsImages(boolean padded) {
    for (int length = 1; length < 20; length++) {
      learned.clear();
      List<Url> urls =
          List.of(url("x" + length, length, padded), url("y" + length, 21 - length, padded));
      Chat chat = chat(List.of(text(0, 10), text(20, 3), text(40, 12)), urls);
      sent(first, chat);
      first.store(chat, 0, blocks(chat));
      assertThat(learned).as("length=" + length).hasSize(2);
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void nothingIsLearnedWhereTwoChatsMayBeMeant() {
    Chat one = chat(List.of(text(0, 10), text(20, 12)), List.of(url("x", 9, true)));
    Chat other = chat(List.of(text(0, 10), text(20, 12)), List.of(url("y", 9, true)));
    sent(first, one);
    sent(first, other);
    first.store(one, 0, blocks(one));
    first.store(other, 0, blocks(other));
    assertThat(learned).isEmpty();
    sent(second, one);
    second.store(one, 0, blocks(one));
    assertThat(learned).as("at the other engine there is one").containsOnlyKeys("x");
    assertThat(wrong).isEmpty();
  }

  @Test
  void aChatThatIsOverIsMeantNoMoreAfterAMoment() {
    Chat one = alike("x");
    Chat other = alike("y");
    sent(first, one);
    ended(first, one, false);
    now += 3_000_000_000L;
    sent(first, other);
    assertThat(first.applier.imageWaits().chats()).isEqualTo(2);
    first.store(other, 0, blocks(other));
    assertThat(learned).containsOnlyKeys("y");
    assertThat(first.applier.imageWaits().chats()).as("until it ends").isEqualTo(1);
    ended(first, other, false);
    now += 3_000_000_000L;
    Chat text = chat(List.of(text(900, 12)), List.of());
    first.store(text, 0, 3);
    assertThat(first.applier.imageWaits().chats()).isZero();
  }

  @Test
  void onlyChatsAreMeantThatWereUnderWayWhenARowArrived() {
    Chat one = alike("x");
    sent(first, one);
    first.hear(one, 0, blocks(one));
    ended(first, one, false);
    now += 10_000_000_000L;
    sent(first, alike("y"));
    first.apply();
    assertThat(learned).containsOnlyKeys("x");
    assertThat(wrong).isEmpty();
  }

  @Test
  void aBugOfOursEndsTheLearningAndNothingElse() {
    SentImages.Source broken =
        new SentImages.Source() {
          @Override
          public void learned(String identifier, int[] run) {
            throw new IllegalStateException("a bug");
          }

          @Override
          public void withdrawn(String identifier) {
            throw new IllegalStateException("a bug");
          }
        };
    Chat chat = alike("x");
    SentImages.Place place = new SentImages.Place(10, 1, false, PAD, Set.of(), broken);
    first.applier.sentImages(
        new SentImages(this, chat.sent.ids(), PromptKeys.NONE, List.of(place)), now);
    first.store(chat, 0, blocks(chat));
    assertThat(first.counters.get(StreamCounter.IMAGE_FAILURES)).isEqualTo(1);
    assertThat(first.applier.stats().heldBlocks()).isEqualTo(blocks(chat));
    Chat next = alike("y");
    sent(first, next);
    first.store(next, 0, blocks(next));
    assertThat(learned).isEmpty();
    first.reset();
    sent(first, next);
    first.store(next, 0, blocks(next));
    assertThat(learned).as("in the next lifetime").containsOnlyKeys("y");
  }

  @Test
  void aReplayTeachesNothing() {
    Chat one = alike("x");
    sent(first, one);
    first.hear(one, 0, blocks(one));
    for (Heard heard : first.heard) {
      first.applier.apply(ColumnsOf.events(List.of(heard.event)));
    }
    assertThat(learned).isEmpty();
  }

  @Test
  void whatAnotherRowContradictsIsWithdrawn() {
    Chat ours = alike("x");
    Chat strangers = alike("y");
    sent(first, ours);
    first.store(strangers, 0, blocks(strangers));
    assertThat(wrong).as("it is the only chat that is known").hasSize(1);
    first.store(ours, 0, blocks(ours));
    assertThat(withdrawn).containsOnly("x");
    assertThat(learned).isEmpty();
    sent(second, ours);
    second.store(ours, 0, blocks(ours));
    second.store(strangers, 0, blocks(strangers));
    assertThat(learned).containsOnlyKeys("x");
    assertThat(withdrawn).as("whichever comes first").containsOnly("x");
  }

  @Test
  void aChatThatWasExplainedStandsInNoOthersWay() {
    Chat one = alike("x");
    Chat other = alike("y");
    sent(first, one);
    first.store(one, 0, blocks(one));
    sent(first, other);
    first.store(other, 0, blocks(other));
    assertThat(learned).containsOnlyKeys("x", "y");
    assertThat(wrong).isEmpty();
    assertThat(withdrawn).isEmpty();
  }

  @Test
  void adapterAndSaltPartWhatBeginsWithAnImage() {
    List<int[]> texts = List.of(text(0, 2), text(20, 12));
    PromptKeys salted = new PromptKeys(null, "s");
    PromptKeys adapted = new PromptKeys("l", null);
    Chat plain = chat(PromptKeys.NONE, texts, List.of(url("x", 9, true)), Set.of());
    Chat salt = chat(salted, texts, List.of(url("y", 9, true)), Set.of());
    Chat lora = chat(adapted, texts, List.of(url("z", 9, true)), Set.of());
    for (Chat chat : List.of(plain, salt, lora)) {
      sent(first, chat);
    }
    for (Chat chat : List.of(lora, plain, salt)) {
      first.store(chat, 0, blocks(chat));
    }
    assertThat(learned).containsOnlyKeys("x", "y", "z");
    assertThat(wrong).isEmpty();
  }

  @Test
  void nothingIsLearnedWhileAChatIsUnderWayThatThereWasNoRoomFor() {
    Chat one = alike("x");
    sent(first, one);
    List<Chat> others = new ArrayList<>();
    for (int i = 0; i < 1024; i++) {
      Chat other = chat(List.of(text(50, 10), text(70, 12)), List.of(url("o" + i, 9, true)));
      sent(first, other);
      others.add(other);
    }
    assertThat(first.applier.imageWaits().chats()).isEqualTo(1024);
    Chat last = alike("y");
    sent(first, last);
    first.store(one, 0, blocks(one));
    assertThat(learned).as("x is not among them").isEmpty();
    ended(first, one, false);
    others.forEach(other -> ended(first, other, false));
    now += 3_000_000_000L;
    first.store(last, 0, blocks(last));
    assertThat(learned).containsOnlyKeys("y");
    assertThat(wrong).isEmpty();
  }

  @Test
  void chatsThatWereUnderWayWhenAnEngineWasForgottenAreNotForgotten() {
    Chat one = alike("x");
    sent(first, one);
    first.applier.reset();
    Chat other = alike("y");
    sent(first, other);
    first.store(one, 0, blocks(one));
    assertThat(learned).isEmpty();
    ended(first, one, false);
    now += 3_000_000_000L;
    first.store(other, 0, blocks(other));
    assertThat(learned).containsOnlyKeys("y");
    assertThat(wrong).isEmpty();
  }

  @Test
  void nothingIsLearnedWhileAChatIsUnderWayThatWasNotRead() {
    Chat stranger = alike("y");
    Chat one = alike("x");
    sent(first, one);
    first.applier.sentUnread(stranger, now);
    assertThat(first.applier.imageWaits().unread()).isEqualTo(1);
    first.storeAtOnce(stranger);
    now += 10_000_000_000L;
    first.applier.endedImages(stranger, false, now);
    first.applier.endedImages(stranger, false, now);
    assertThat(first.applier.imageWaits().unread()).isZero();
    first.store(one, 0, blocks(one));
    assertThat(learned).as("what it stored may still be on its way").isEmpty();
    assertThat(wrong).isEmpty();
    now += 3_000_000_000L;
    Chat next = alike("z");
    sent(first, next);
    ended(first, one, false);
    first.store(next, 0, blocks(next));
    assertThat(learned).isEmpty();
    now += 3_000_000_000L;
    Chat last = alike("w");
    sent(first, last);
    ended(first, next, false);
    now += 3_000_000_000L;
    first.store(last, 0, blocks(last));
    assertThat(learned).containsOnlyKeys("w");
  }

  @Test
  void aRowThatGoesOnMeanwhileTeachesNothing() {
    Chat one = alike("x");
    sent(first, one);
    first.store(one, 0, 4);
    first.applier.sentUnread(this, now);
    first.store(one, 4, 5);
    first.applier.endedImages(this, false, now);
    now += 3_000_000_000L;
    first.store(one, 5, blocks(one));
    assertThat(learned).isEmpty();
  }

  @Test
  void anImageWhoseNameIsKnownIsLearnedWhateverElseIsUnderWay() {
    List<int[]> texts = List.of(text(0, 10), text(20, 12));
    Chat stranger = chat(texts, List.of(url("y", 9, true)));
    Chat one = chat(texts, List.of(url("x", 7, true, true)));
    sent(first, one);
    first.applier.sentUnread(stranger, now);
    first.store(stranger, 0, blocks(stranger));
    assertThat(learned).isEmpty();
    first.store(one, 0, 3);
    first.store(one, 3, blocks(one));
    assertThat(learned).containsOnlyKeys("x");
    Chat other = chat(List.of(text(0, 6), text(20, 12)), List.of(url("z", 9, true)));
    sent(first, other);
    first.store(other, 0, blocks(other));
    assertThat(learned).as("the name of z is not known").containsOnlyKeys("x");
    assertThat(wrong).isEmpty();
  }

  @Test
  void anUnreadChatIsNotForgottenWithItsEngine() {
    first.applier.sentUnread(this, now);
    first.applier.reset();
    assertThat(first.applier.imageWaits().unread()).as("it may be seen by the next").isEqualTo(1);
  }

  @Test
  void unreadChatsAreBounded() {
    List<Object> chats = new ArrayList<>();
    for (int i = 0; i < 1025; i++) {
      chats.add(new Object());
      first.applier.sentUnread(chats.get(i), now);
    }
    assertThat(first.applier.imageWaits().unread()).isEqualTo(1024);
    chats.forEach(chat -> first.applier.endedImages(chat, false, now));
    assertThat(first.applier.imageWaits().unread()).isZero();
    now += 50_000_000_000L;
    Chat one = alike("x");
    sent(first, one);
    first.store(one, 0, blocks(one));
    assertThat(learned).as("one of them made room").isEmpty();
    now += 20_000_000_000L;
    Chat other = alike("y");
    sent(first, other);
    ended(first, one, false);
    now += 3_000_000_000L;
    first.store(other, 0, blocks(other));
    assertThat(learned).containsOnlyKeys("y");
  }

  @Test
  void chatsAreBoundedByTheirBytes() {
    for (int i = 0; i < 5; i++) {
      sent(first, longChat("u" + i));
    }
    ImageWaits waits = first.applier.imageWaits();
    assertThat(waits.bytes()).isBetween(3L << 20, 4L << 20);
    assertThat(waits.chats()).isEqualTo(3);
    assertThat(waits.unread()).isEqualTo(2);
  }

  /** Its tokens take a little more than a MiB. */
  private Chat longChat(String url) {
    int number = 1_000_000 * (1 + url.charAt(1));
    return chat(List.of(text(number, 10), text(number + 20, 1 << 18)), List.of(url(url, 9, false)));
  }

  @Test
  void rowsAreBoundedByWhatTheyAndTheirCandidatesTake() {
    Chat one = longChat("u1");
    Chat other = longChat("u2");
    sent(first, one);
    first.store(one, 0, 4);
    sent(first, other);
    first.store(other, 0, 4);
    first.store(one, 4, 8);
    first.store(other, 4, 8);
    assertThat(learned).containsOnlyKeys("u2");
  }

  @Test
  void rowsAreBounded() {
    List<Chat> chats = new ArrayList<>();
    for (int i = 0; i < 65; i++) {
      int number = 100 * (i + 1);
      chats.add(
          chat(List.of(text(number, 10), text(number + 20, 12)), List.of(url("u" + i, 9, false))));
      sent(first, chats.get(i));
      first.store(chats.get(i), 0, 4);
    }
    chats.forEach(chat -> first.store(chat, 4, blocks(chat)));
    assertThat(learned).hasSize(64).doesNotContainKey("u0");
  }

  @Test
  void aRowIsReadSoOften() {
    for (int blocks : List.of(60, 70)) {
      learned.clear();
      Chat chat =
          chat(
              List.of(text(0, 10), text(20, 12)), List.of(url("u" + blocks, blocks * block, true)));
      sent(first, chat);
      first.store(chat, 0, blocks(chat));
      assertThat(learned).hasSize(blocks == 60 ? 1 : 0);
      ended(first, chat, false);
      now += 3_000_000_000L;
    }
  }

  @Test
  void aRowIsReadUpToALength() {
    for (int length : List.of(65_000, 66_000)) {
      learned.clear();
      Chat chat =
          chat(List.of(text(0, 10), text(20, 12)), List.of(url("u" + length, length, true)));
      sent(first, chat);
      first.storeAtOnce(chat);
      assertThat(learned).hasSize(length == 65_000 ? 1 : 0);
      ended(first, chat, false);
      now += 3_000_000_000L;
    }
  }

  @Test
  void aRowThatTooManyMayHaveStoredTeachesNothing() {
    for (int count : List.of(32, 33)) {
      learned.clear();
      List<Chat> chats = IntStream.range(0, count).mapToObj(i -> alike("u" + count)).toList();
      chats.forEach(chat -> sent(first, chat));
      first.store(chats.get(0), 0, blocks(chats.get(0)));
      assertThat(learned).hasSize(count == 32 ? 1 : 0);
      chats.forEach(chat -> ended(first, chat, false));
      now += 3_000_000_000L;
    }
  }

  @Test
  void aRowThatLooksLikeTooManyTeachesNothing() {
    for (int count : List.of(128, 129)) {
      learned.clear();
      Url url = url("u" + count, 9, true);
      List<Chat> chats = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int[] before = IntStream.concat(IntStream.of(1_000 + i), IntStream.range(0, 9)).toArray();
        chats.add(chat(List.of(before, text(20, 12)), List.of(url)));
        sent(first, chats.get(i));
      }
      chats.forEach(chat -> first.store(chat, 0, blocks(chat)));
      assertThat(learned).as("the last ones").hasSize(count == 128 ? 1 : 0);
      chats.forEach(chat -> ended(first, chat, false));
      now += 3_000_000_000L;
    }
  }

  /** The one text that many ask about an image. */
  private Chat alike(String url) {
    return chat(List.of(text(0, 10), text(20, 12)), List.of(url(url, 9, true)));
  }

  private void ended(Engine engine, Chat chat, boolean foundAll) {
    engine.applier.endedImages(chat.sent.request(), foundAll, now);
  }

  @Test
  void nothingIsLearnedWhereTheTextBehindIsNotSeen() {
    Chat chat = chat(List.of(text(0, 10), text(20, 12)), List.of(url("x", 9, false)));
    sent(first, chat);
    first.store(chat, 0, 4);
    assertThat(learned).isEmpty();
    first.store(chat, 4, blocks(chat));
    assertThat(learned).containsOnlyKeys("x");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 16})
  void anSglangTellsOfAllImagesByTheirIds(int pageTokens) {
    sglang(pageTokens);
    for (int length = 1; length < 20; length++) {
      learned.clear();
      List<Url> urls =
          List.of(url("x" + length, length, true), url("y" + length, 21 - length, true));
      Chat chat = chat(List.of(text(0, 10), text(20, 3), text(40, 30)), urls);
      sent(first, chat);
      first.store(chat, 0, 1);
      first.store(chat, 1, blocks(chat));
      assertThat(learned).as("length=" + length).hasSize(2);
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void anImageWhoseEndWasEvictedAndStoredAgainIsAsLongAsItWas() {
    sglang(1);
    Chat chat = alike("x");
    first.store(chat, 0, blocks(chat));
    for (int lost = 1; lost < 9; lost++) {
      first.evict(chat, 12 + lost, List.of());
      first.apply();
      Chat next = alike("x");
      sent(first, next);
      first.store(next, 0, blocks(next));
      ended(first, next, false);
      now += 3_000_000_000L;
    }
    assertThat(learned).as("its beginning was there before").isEmpty();
    assertThat(wrong).isEmpty();
  }

  /** What is stored behind suspended blocks shows that these are there. */
  @Test
  void anImageWhoseBeginningIsConfirmedByItsEndIsNotTakenForItsEnd() {
    sglang(1);
    Chat chat = alike("x");
    first.store(chat, 0, blocks(chat));
    for (int at = blocks(chat) - 1; at > 14; at--) {
      first.lose(chat, at);
    }
    first.applier.suspend();
    Chat next = alike("x");
    sent(first, next);
    first.store(next, 0, blocks(next));
    assertThat(first.applier.stats().namedBlocks()).isEqualTo(blocks(next));
    assertThat(wrong).isEmpty();
    assertThat(learned).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"2000, true", "3000, false"})
  void blocksThatAreLookedUpForARowAreBounded(int textTokens, boolean isLearned) {
    sglang(1);
    List<Chat> chats = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      chats.add(chat(List.of(text(0, textTokens), text(20, 12)), List.of(url("x", 9, true))));
      sent(first, chats.get(i));
    }
    first.store(chats.get(0), 0, blocks(chats.get(0)));
    assertThat(learned.containsKey("x")).isEqualTo(isLearned);
  }

  @Test
  void imagesThatAreNamedTogetherTeachNothing() {
    sglang(1);
    Url one = url("x", 3, true);
    Chat known =
        chat(List.of(text(0, 10), text(20, 3), text(40, 12)), List.of(one, url("y", 4, true)));
    int[] ids = known.tokens.clone();
    Arrays.fill(ids, 16, 20, one.id());
    Chat together = new Chat(known.sent, ids, known.keys);
    sent(first, together);
    first.store(together, 0, blocks(together));
    assertThat(learned).isEmpty();
    assertThat(wrong).isEmpty();
    Chat alone = alike("x");
    sent(second, alone);
    second.store(alone, 0, blocks(alone));
    assertThat(learned).containsOnlyKeys("x");
  }

  /** vLLM's blocks and SGLang's pages, several of an image and several images of one. */
  @Test
  void noOrderTeachesWhatIsNotSo() {
    teaches(1_500, 7);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 16})
  void noOrderOfAnSglangTeachesWhatIsNotSo(int pageTokens) {
    sglang(pageTokens);
    teaches(1_500, pageTokens);
  }

  /**
   * Few texts and images, so that chats are often alike; each stores its blocks in pieces, which
   * reach the index late; some find their images in the cache, from which their ends are evicted;
   * some are not read, and of one image of a vLLM the name is known.
   */
  private void teaches(int rounds, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int lessons = 0;
    int found = 0;
    int withdrawals = 0;
    int beside = 0;
    for (int round = 0; round < rounds; round++) {
      learned.clear();
      boolean padded = random.nextBoolean();
      int[] sizes = {1 + random.nextInt(12), 1 + random.nextInt(12), 1 + random.nextInt(12)};
      List<Turn> running = new ArrayList<>();
      List<Turn> over = new ArrayList<>();
      int begin = 10_000 * (round % 90 + 1);
      for (int step = 0; step < 40; step++) {
        now += random.nextInt(3) == 0 ? random.nextLong(1_500_000_000L) : 1_000;
        if (running.size() < 1 + random.nextInt(4)) {
          Engine engine = random.nextBoolean() ? first : second;
          Chat chat = any(random, begin, sizes, padded);
          boolean isRead = random.nextInt(12) > 0;
          if (isRead) {
            sent(engine, chat);
          } else {
            engine.applier.sentUnread(chat.sent.request(), now);
          }
          running.add(new Turn(engine, chat, isRead));
        }
        if (!over.isEmpty() && random.nextInt(4) == 0) {
          Turn evicted = over.get(random.nextInt(over.size()));
          int most = 1 + random.nextInt(2 * 16 / block);
          if (random.nextInt(8) > 0) {
            evicted.engine.evict(evicted.chat, most, running);
          } else {
            evicted.engine.evictUnheard(evicted.chat, most, running);
          }
        }
        Turn turn = running.get(random.nextInt(running.size()));
        turn.store(random.nextInt(16 / block + 1));
        if (!turn.isRead && turn.isComputed() && random.nextInt(4) == 0) {
          ended(turn.engine, turn.chat, false);
        }
        if (random.nextInt(3) > 0) {
          int before = learned.size();
          turn.engine.apply();
          beside += turn.engine.applier.imageWaits().unread() > 0 ? learned.size() - before : 0;
        }
        if (turn.stored == blocks(turn.chat)) {
          boolean knew = turn.chat.sent.keys().items().size() == turn.chat.keys.items().size();
          ended(turn.engine, turn.chat, turn.held && knew);
          found += turn.held && knew ? 1 : 0;
          running.remove(turn);
          over.add(turn);
        }
      }
      lessons += learned.size();
      withdrawals += withdrawn.size();
      withdrawn.clear();
      first.apply();
      second.apply();
      running.forEach(turn -> ended(turn.engine, turn.chat, false));
      now += 3_000_000_000L;
      assertThat(wrong).as("round=" + round).isEmpty();
      first.reset();
      second.reset();
    }
    assertThat(lessons).isGreaterThan(rounds / 3);
    assertThat(withdrawals).as("without need").isLessThan(lessons / 100);
    assertThat(found).isGreaterThan(rounds / 15);
    assertThat(beside)
        .as("images with a name, beside unread chats")
        .isGreaterThan(inTokens ? -1 : rounds / 75);
  }

  /** A chat at an engine. */
  private final class Turn {
    private final Engine engine;
    private final Chat chat;
    private final boolean isRead;

    /** Whether all of its images were there when it began, and how many blocks. */
    private boolean held;

    private int found = -1;
    private int stored;

    Turn(Engine engine, Chat chat, boolean isRead) {
      this.engine = engine;
      this.chat = chat;
      this.isRead = isRead;
    }

    /** Whether what it stores from now on may be its answer. */
    boolean isComputed() {
      List<PromptKeys.Item> items = chat.keys.items();
      PromptKeys.Item last = items.get(items.size() - 1);
      return stored * block >= last.from() + last.lengthTokens();
    }

    boolean has(Chat other, int at) {
      return at < Math.max(found, stored) && engine.name(other, at).equals(engine.name(chat, at));
    }

    void store(int more) {
      if (found < 0) {
        held = engine.holds(chat);
        found = engine.held(chat);
      }
      int to = Math.min(blocks(chat), stored + 1 + more);
      engine.hear(chat, stored, to);
      stored = to;
    }
  }

  private Chat any(SplittableRandom random, int begin, int[] sizes, boolean padded) {
    List<int[]> texts = new ArrayList<>();
    List<Url> urls = new ArrayList<>();
    Set<Url> known = new HashSet<>();
    texts.add(text(begin + 100 * random.nextInt(2), 3 + random.nextInt(2)));
    int images = 1 + random.nextInt(2);
    for (int i = 0; i < images; i++) {
      int number = random.nextInt(3);
      Url url = url("u" + number, sizes[number], padded, number == 0);
      urls.add(url);
      if (learned.containsKey(url.name) && random.nextInt(4) > 0) {
        known.add(url);
      }
      int length = i + 1 < images ? 2 : Math.max(14, 2 * block);
      texts.add(text(begin + 1_000 + 100 * random.nextInt(2), length));
    }
    PromptKeys plain =
        switch (random.nextInt(6)) {
          case 0 -> new PromptKeys("l", null);
          case 1 -> new PromptKeys(null, "s");
          default -> PromptKeys.NONE;
        };
    return chat(plain, texts, urls, known);
  }
}
