package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.wire.BlockKeys;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chats with images at two engines that store them in any order; never a wrong lesson. */
class ImageLearningTest {

  private static final int BLOCK = 4;
  private static final int TARGET = 500;
  private static final int PAD = 600;

  private final Map<String, String> learned = new HashMap<>();
  private final Set<String> wrong = new HashSet<>();
  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final Engine first = new Engine("a");
  private final Engine second = new Engine("b");

  /** An image behind a URL: its identifier and tokens, which the engine alone knows. */
  private record Url(String name, int lengthTokens, boolean padded) {
    String identifier() {
      return "digest of " + name;
    }

    int[] run() {
      return padded
          ? IntStream.range(0, lengthTokens).map(i -> PAD).toArray()
          : IntStream.range(0, lengthTokens).map(i -> PAD + 1 + i % 3).toArray();
    }
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
    public boolean equals(@Nullable Object other) {
      return other instanceof Source source && source.url.equals(url);
    }

    @Override
    public int hashCode() {
      return url.hashCode();
    }
  }

  /** A chat as the router knows it and as the engine computes it. */
  private record Chat(SentImages sent, int[] tokens, List<PromptKeys.Item> items) {}

  private final class Engine {
    private final EventApplier applier;
    private final Map<List<Object>, Long> hashes = new HashMap<>();

    Engine(String name) {
      EngineDialect dialect = EngineDialect.VLLM;
      EngineRules rules = new EngineRules(dialect, 0, dialect.removals(), 0);
      applier =
          new EventApplier(
              index,
              new EngineSource(new EngineId(name, 0), "m", "tcp://x", false, null, rules),
              new StreamCounters());
    }

    /** Stores blocks {@code [from, to)} of a chat, those that are not in the cache. */
    void store(Chat chat, int from, int to) {
      PromptKeys keys = new PromptKeys(null, null, chat.items);
      for (int block = from; block < to; block++) {
        List<Object> name = name(chat, keys, block);
        if (hashes.putIfAbsent(name, 1L + hashes.size()) == null) {
          Long parent = block == 0 ? null : hashes.get(name(chat, keys, block - 1));
          int[] ids = Arrays.copyOfRange(chat.tokens, block * BLOCK, (block + 1) * BLOCK);
          List<List<ExtraKey>> extra = List.of(keys.of(block, BLOCK));
          applier.apply(
              ColumnsOf.events(
                  List.<KvEvent>of(
                      new KvEvent.BlockStored(
                          new long[] {hashes.get(name)},
                          parent,
                          new BlockTokens(ids, BLOCK, 0, Naming.DENSE),
                          new BlockKeys(null, null, extra, Naming.DENSE),
                          BlockPlace.GPU,
                          new GroupSpec("full_attention", 0)))));
        }
      }
    }

    private List<Object> name(Chat chat, PromptKeys keys, int block) {
      List<Object> name = new ArrayList<>();
      for (int i = 0; i <= block; i++) {
        name.add(keys.of(i, BLOCK));
      }
      Arrays.stream(chat.tokens, 0, (block + 1) * BLOCK).forEach(name::add);
      return name;
    }
  }

  /** A chat of texts with an image behind each but the last. */
  private Chat chat(List<int[]> texts, List<Url> urls) {
    IntStream.Builder text = IntStream.builder();
    IntStream.Builder computed = IntStream.builder();
    List<SentImages.Place> places = new ArrayList<>();
    List<PromptKeys.Item> items = new ArrayList<>();
    int at = 0;
    int computedAt = 0;
    for (int i = 0; i < texts.size(); i++) {
      Arrays.stream(texts.get(i)).forEach(text);
      Arrays.stream(texts.get(i)).forEach(computed);
      at += texts.get(i).length;
      computedAt += texts.get(i).length;
      if (i < urls.size()) {
        Url url = urls.get(i);
        text.add(TARGET);
        Arrays.stream(url.run()).forEach(computed);
        int pad = url.padded ? PAD : -1;
        places.add(new SentImages.Place(at, 1, false, pad, Set.of(), new Source(url)));
        items.add(new PromptKeys.Item(url.identifier(), computedAt, url.lengthTokens));
        at++;
        computedAt += url.lengthTokens;
      }
    }
    SentImages sent = new SentImages(new Object(), text.build().toArray(), PromptKeys.NONE, places);
    return new Chat(sent, computed.build().toArray(), items);
  }

  private static int[] text(int first, int length) {
    return IntStream.range(first, first + length).toArray();
  }

  private static int blocks(Chat chat) {
    return chat.tokens.length / BLOCK;
  }

  private void sent(Engine engine, Chat chat) {
    engine.applier.sentImages(chat.sent, 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneChatTellsOfAllItsImages(boolean padded) {
    for (int length = 1; length < 20; length++) {
      learned.clear();
      List<Url> urls =
          List.of(
              new Url("x" + length, length, padded), new Url("y" + length, 21 - length, padded));
      Chat chat = chat(List.of(text(0, 10), text(20, 3), text(40, 12)), urls);
      sent(first, chat);
      first.store(chat, 0, blocks(chat));
      assertThat(learned).as("length=" + length).hasSize(2);
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void nothingIsLearnedWhereTwoChatsMayBeMeant() {
    Chat one = chat(List.of(text(0, 10), text(20, 12)), List.of(new Url("x", 9, true)));
    Chat other = chat(List.of(text(0, 10), text(20, 12)), List.of(new Url("y", 9, true)));
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
    Chat one = chat(List.of(text(0, 10), text(20, 12)), List.of(new Url("x", 9, true)));
    Chat other = chat(List.of(text(0, 10), text(20, 12)), List.of(new Url("y", 9, true)));
    sent(first, one);
    first.applier.endedImages(one.sent.request(), false, 0);
    first.applier.sentImages(other.sent, 3_000_000_000L);
    assertThat(first.applier.imageWaits().chats()).isEqualTo(1);
    first.store(other, 0, blocks(other));
    assertThat(learned).containsOnlyKeys("y");
    assertThat(first.applier.imageWaits().chats()).isZero();
  }

  @Test
  void nothingIsLearnedWhereTheTextBehindIsNotSeen() {
    Chat chat = chat(List.of(text(0, 10), text(20, 12)), List.of(new Url("x", 9, false)));
    sent(first, chat);
    first.store(chat, 0, 4);
    assertThat(learned).isEmpty();
    first.store(chat, 4, blocks(chat));
    assertThat(learned).containsOnlyKeys("x");
  }

  /** Few texts and images, so that chats are often alike; each stores its blocks in pieces. */
  @Test
  void noOrderTeachesWhatIsNotSo() {
    SplittableRandom random = new SplittableRandom(7);
    int lessons = 0;
    for (int round = 0; round < 1_500; round++) {
      learned.clear();
      boolean padded = random.nextBoolean();
      int[] sizes = {1 + random.nextInt(12), 1 + random.nextInt(12), 1 + random.nextInt(12)};
      List<Chat> running = new ArrayList<>();
      List<Engine> engines = new ArrayList<>();
      List<Integer> stored = new ArrayList<>();
      int begin = 10_000 * (round + 1);
      for (int step = 0; step < 40; step++) {
        if (running.size() < 1 + random.nextInt(4)) {
          Chat chat = any(random, begin, sizes, padded);
          Engine engine = random.nextBoolean() ? first : second;
          sent(engine, chat);
          running.add(chat);
          engines.add(engine);
          stored.add(0);
        }
        int turn = random.nextInt(running.size());
        Chat chat = running.get(turn);
        int to = Math.min(blocks(chat), stored.get(turn) + 1 + random.nextInt(4));
        engines.get(turn).store(chat, stored.get(turn), to);
        stored.set(turn, to);
        if (to == blocks(chat)) {
          engines.get(turn).applier.endedImages(chat.sent.request(), false, 0);
          running.remove(turn);
          engines.remove(turn);
          stored.remove(turn);
        }
      }
      lessons += learned.size();
      assertThat(wrong).as("round=" + round).isEmpty();
      first.applier.sentImages(any(random, begin, sizes, padded).sent, Long.MAX_VALUE / 2);
      first.applier.reset();
      second.applier.reset();
      first.hashes.clear();
      second.hashes.clear();
    }
    assertThat(lessons).isGreaterThan(500);
  }

  private Chat any(SplittableRandom random, int begin, int[] sizes, boolean padded) {
    List<int[]> texts = new ArrayList<>();
    List<Url> urls = new ArrayList<>();
    texts.add(text(begin + 100 * random.nextInt(2), 3 + random.nextInt(2)));
    int images = 1 + random.nextInt(2);
    for (int i = 0; i < images; i++) {
      int url = random.nextInt(3);
      urls.add(new Url("u" + url, sizes[url], padded));
      texts.add(text(begin + 1_000 + 100 * random.nextInt(2), i + 1 < images ? 2 : 14));
    }
    return chat(texts, urls);
  }
}
