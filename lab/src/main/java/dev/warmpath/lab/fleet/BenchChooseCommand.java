package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.PromptHistory;
import dev.warmpath.router.dispatch.UncachedCauses;
import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench choose}: what it costs to choose an engine.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "choose",
    description = {
      "Growing chats take turns before made-up engines whose caches evict, in virtual time. Measured",
      "is the CPU time of a request: to choose an engine, and to learn from its end; and of both, to",
      "tell why tokens are not cached. Policies take turns; reading prompts and events is not counted."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath bench choose --engines 64 --json",
      "  warmpath bench choose --policies round-robin,warm --prompt-tokens 100000 --rounds 3"
    })
public final class BenchChooseCommand implements WarmpathCommand {

  @Option(
      names = "--policies",
      split = ",",
      paramLabel = "POLICY",
      defaultValue = "round-robin,conductor,llm-d-weighted,warm",
      description = "Policies; ratios are to the first (${DEFAULT-VALUE}).")
  private List<String> policies = List.of();

  @Option(names = "--engines", defaultValue = "64", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--prompt-tokens",
      defaultValue = "8000",
      description = "Tokens of a chat's last turn (${DEFAULT-VALUE}).")
  private int promptTokens;

  @Option(
      names = "--cache-tokens",
      defaultValue = "100000",
      description = "Tokens that an engine's cache holds (${DEFAULT-VALUE}).")
  private int cacheTokens;

  @Option(
      names = "--requests",
      defaultValue = "20000",
      description = "Requests of a round (${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Rounds, after two that are not counted (${DEFAULT-VALUE}).")
  private int rounds;

  @Mixin private BenchOutput output = new BenchOutput();

  private record Row(String policy, List<ChoiceBench.Round> rounds) {

    Spread of(ToDoubleFunction<ChoiceBench.Round> figure) {
      return Spread.of(rounds.stream().mapToDouble(figure).toArray());
    }

    double totalMicros() {
      return of(round -> round.chooseMicros() + round.endMicros()).median();
    }
  }

  @Override
  public Integer call() {
    if (engines < 1
        || promptTokens < 1
        || cacheTokens < promptTokens
        || requests < 1
        || rounds < 1) {
      throw CommandException.usage(
          "engines, prompt tokens, requests and rounds from 1; a cache holds a prompt or more");
    }
    ChoiceBench bench = new ChoiceBench(engines, promptTokens, cacheTokens);
    List<ChoiceBench.Contestant> contestants = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    for (String policy : policies) {
      ChoiceBench.Contestant contestant = contestant(bench, policy);
      contestant.fill();
      contestants.add(contestant);
      rows.add(new Row(policy, new ArrayList<>()));
    }
    for (int round = -2; round < rounds; round++) {
      for (int i = 0; i < rows.size(); i++) {
        ChoiceBench.Round took = contestants.get(i).round(requests);
        if (round >= 0) {
          rows.get(i).rounds.add(took);
        }
      }
      output.progress(round < 0 ? "warming up" : "round " + (round + 1));
    }
    output.report(table -> print(table, rows), toJson(rows));
    return Exit.OK;
  }

  private static ChoiceBench.Contestant contestant(ChoiceBench bench, String policy) {
    try {
      return bench.contestant(policy);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private void print(PrintWriter table, List<Row> rows) {
    table.printf("%d engines, %d rounds of %d requests each%n", engines, rounds, requests);
    table.printf(
        "%-18s %24s %24s %20s %9s %8s%n",
        "µs CPU", "choose", "end", "causes of both", "to first", "cached");
    for (Row row : rows) {
      table.printf(
          "%-18s %24s %24s %20s %9.2f %8.3f%n",
          row.policy,
          shown(row.of(ChoiceBench.Round::chooseMicros)),
          shown(row.of(ChoiceBench.Round::endMicros)),
          shown(row.of(ChoiceBench.Round::causesMicros)),
          row.totalMicros() / rows.get(0).totalMicros(),
          row.of(ChoiceBench.Round::cachedShare).median());
    }
    table.flush();
  }

  private static String shown(Spread spread) {
    return "%.1f (%.1f to %.1f)".formatted(spread.median(), spread.min(), spread.max());
  }

  private ObjectNode toJson(List<Row> rows) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("engines", engines).put("promptTokens", promptTokens).put("cacheTokens", cacheTokens);
    root.put("requests", requests).put("rounds", rounds);
    ArrayNode list = root.putArray("policies");
    for (Row row : rows) {
      ObjectNode to = list.addObject().put("policy", row.policy);
      row.of(ChoiceBench.Round::chooseMicros).put(to, "chooseMicros");
      row.of(ChoiceBench.Round::endMicros).put(to, "endMicros");
      row.of(ChoiceBench.Round::causesMicros).put(to, "causesMicros");
      to.put("ratio", row.totalMicros() / rows.get(0).totalMicros());
      to.put("cachedShare", row.of(ChoiceBench.Round::cachedShare).median());
    }
    return root;
  }

  /**
   * What choosing an engine costs, and what is learned when the answer is over, by policy. Growing
   * chats take turns before made-up engines whose caches evict the longest unused, in virtual time;
   * reading prompts, engines and their events are not measured.
   *
   * <p>Confined to one thread.
   */
  private static final class ChoiceBench {

    private static final int BLOCK_TOKENS = 16;
    private static final int TURNS = 8;
    private static final int FAMILIES = 32;
    private static final int IN_FLIGHT = 4; // at an engine
    private static final int ANSWER_TOKENS = 100;
    private static final long ANSWER_NANOS = 2_000_000_000L;
    private static final int BATCH = 50;

    /**
     * CPU time of a request in one round.
     *
     * @param chooseMicros until an engine is chosen and reserved
     * @param endMicros from its first token to its end: judging, learning, giving back
     * @param causesMicros of both, to tell why tokens are not cached, and to remember the prompt:
     *     the same done once more in a memory of its own
     * @param cachedShare of the prompts' tokens
     */
    record Round(double chooseMicros, double endMicros, double causesMicros, double cachedShare) {}

    private final int engines;
    private final int promptBlocks;
    private final int cacheBlocks;
    private final Meters meters = new Meters();
    private final ChainSpace space = new ChainSpace("bench", BLOCK_TOKENS, 0);

    /**
     * @param promptTokens of a chat's last turn; half of them are shared with a thirty-second of
     *     all
     * @param cacheTokens of each engine
     */
    ChoiceBench(int engines, int promptTokens, int cacheTokens) {
      this.engines = engines;
      this.promptBlocks = Math.max(2 * TURNS, promptTokens / BLOCK_TOKENS);
      this.cacheBlocks = Math.max(promptBlocks, cacheTokens / BLOCK_TOKENS);
    }

    /** A fleet of its own under one policy; it goes on from round to round. */
    Contestant contestant(String policy) {
      return new Contestant(policy);
    }

    /** One chat; it grows from turn to turn. */
    private static final class Chat {
      final long family;
      final long own;
      int turn;

      Chat(Random random) {
        family = random.nextInt(FAMILIES);
        own = random.nextLong();
      }
    }

    /** What one engine holds, the longest unused first. */
    private static final class Cache {
      final int slot;
      final LinkedHashMap<Long, Boolean> names = new LinkedHashMap<>(16, 0.75f, true);

      Cache(int slot) {
        this.slot = slot;
      }

      int held(long[] prompt) {
        int held = 0;
        while (held < prompt.length && names.containsKey(prompt[held])) {
          held++;
        }
        return held;
      }
    }

    @SuppressWarnings("ArrayRecordComponent") // read, never compared
    private record Request(BlockChain chain, long[] names, PreparedRequest prepared) {}

    private record Running(
        Assignment assignment,
        int engine,
        UncachedCauses causes,
        int promptTokens,
        int cachedTokens) {}

    final class Contestant {
      private final Random random = new Random(1);
      private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1_000));
      private final Map<Replica, Cache> caches = new HashMap<>();
      private final Queue<Running> running = new ArrayDeque<>();
      private final List<Chat> chats = new ArrayList<>();
      private final StoredBlocks stored = new StoredBlocks();
      private final RemovedBlocks removed = new RemovedBlocks();
      private final PromptHistory history = new PromptHistory();
      private final Dispatcher dispatcher;
      private long nowNanos;

      Contestant(String policy) {
        Fleet fleet = new Fleet();
        for (int i = 0; i < engines; i++) {
          Replica replica =
              new Replica("engine-" + i, URI.create("http://bench"), Set.of("bench"), 1);
          replica.health(Replica.Health.UP);
          replica.gpuBlocks(cacheBlocks);
          caches.put(replica, new Cache(index.addEngine(CopyCounting.PER_COPY)));
          fleet.add(replica);
        }
        Map<Replica, EngineView> views = new HashMap<>();
        history.engines(engines);
        caches.forEach(
            (replica, cache) -> views.put(replica, new EngineView(cache.slot, space, Trust.EXACT)));
        dispatcher =
            new Dispatcher(
                fleet,
                index,
                new EngineEvents() {
                  @Override
                  public EngineView view(Replica replica, int rank) {
                    return views.getOrDefault(replica, EngineView.UNSEEN);
                  }
                },
                Policies.named(policy, Map.of()),
                new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, 100_000, 1),
                new Dispatcher.Environment(
                    () -> nowNanos, new Random(1), new Metrics(), List.of()));
        for (int i = 0; i < IN_FLIGHT * engines; i++) {
          chats.add(new Chat(random));
        }
      }

      /** So many requests from their choice to their end. */
      Round round(int requests) {
        long choosing = 0;
        long ending = 0;
        long causing = 0;
        long uncached = 0;
        long prompts = 0;
        int made = 0;
        for (; made < requests; made += BATCH) {
          List<Request> asked = new ArrayList<>(BATCH);
          for (int i = 0; i < BATCH; i++) {
            asked.add(next());
          }
          List<Assignment> chosen = new ArrayList<>(BATCH);
          long begin = meters.threadCpuNanos();
          for (Request request : asked) {
            nowNanos += ANSWER_NANOS / ((long) IN_FLIGHT * engines);
            chosen.add((Assignment) dispatcher.assign(request.prepared, Set.of()));
          }
          choosing += meters.threadCpuNanos() - begin;
          List<UncachedCauses> causes = new ArrayList<>(BATCH);
          begin = meters.threadCpuNanos();
          for (int i = 0; i < BATCH; i++) {
            causes.add(causes(chosen.get(i), asked.get(i)));
          }
          causing += meters.threadCpuNanos() - begin;
          for (int i = 0; i < BATCH; i++) {
            running.add(start(chosen.get(i), asked.get(i), causes.get(i)));
          }
          List<Running> ended = new ArrayList<>(BATCH);
          begin = meters.threadCpuNanos();
          for (int i = 0; i < BATCH; i++) {
            ended.add(end(running.remove()));
          }
          ending += meters.threadCpuNanos() - begin;
          begin = meters.threadCpuNanos();
          List<UncachedTokens> told = ended.stream().map(this::remember).toList();
          causing += meters.threadCpuNanos() - begin;
          uncached += told.stream().mapToInt(UncachedTokens::total).sum();
          prompts += ended.stream().mapToInt(Running::promptTokens).sum();
        }
        double micros = 1e3 * made;
        return new Round(
            choosing / micros, ending / micros, causing / micros, 1 - (double) uncached / prompts);
      }

      /** Fills caches and in-flight requests. */
      void fill() {
        for (int i = 0; i < IN_FLIGHT * engines; i++) {
          Request request = next();
          Assignment assignment = (Assignment) dispatcher.assign(request.prepared, Set.of());
          running.add(start(assignment, request, causes(assignment, request)));
        }
      }

      private UncachedCauses causes(Assignment assignment, Request request) {
        int predicted = 0;
        int held = 0;
        UncachedCauses told = Objects.requireNonNull(assignment.choice().uncached());
        for (UncachedCauses.Part part : told.parts()) {
          predicted = part.cause() == Cause.MISPREDICTED ? part.endTokens() : predicted;
          held = part.cause() == Cause.ELSEWHERE ? part.endTokens() : held;
        }
        return history.causes(request.chain, predicted, held, (engine, before) -> false);
      }

      private UncachedTokens remember(Running ended) {
        history.computed(
            Objects.requireNonNull(ended.assignment.choice().blocks()),
            ended.engine,
            0,
            ended.cachedTokens,
            ANSWER_TOKENS);
        return ended.causes.of(ended.promptTokens, ended.cachedTokens);
      }

      private Running start(Assignment assignment, Request request, UncachedCauses causes) {
        int held = compute(assignment, request) * BLOCK_TOKENS;
        int length = request.names.length * BLOCK_TOKENS;
        int slot = Objects.requireNonNull(caches.get(assignment.replica())).slot;
        return new Running(assignment, slot, causes, length, Math.min(held, length - 1));
      }

      private Request next() {
        int number = random.nextInt(chats.size());
        Chat chat = chats.get(number);
        int shared = promptBlocks / 2;
        int length = shared + (promptBlocks - shared) * ++chat.turn / TURNS;
        if (chat.turn == TURNS) {
          chats.set(number, new Chat(random));
        }
        long[] hashes = new long[length];
        Arrays.setAll(hashes, i -> i < shared ? chat.family << 32 | i : chat.own + i);
        BlockChain chain = BlockChain.ofLocalHashes(space, hashes);
        long[] names = new long[length];
        Arrays.setAll(names, chain::blockKey);
        return new Request(
            chain,
            names,
            new PreparedRequest("bench", Prompt.ofBlocks(chain), null, true, 0, 0, null));
      }

      /** The engine stores what it lacks, and evicts for it; returns the blocks that it held. */
      private int compute(Assignment assignment, Request request) {
        Cache cache = Objects.requireNonNull(caches.get(assignment.replica()));
        int held = cache.held(request.names);
        if (held < request.names.length) {
          if (held == 0) {
            stored.atRoot(StorageTier.GPU, 0, space.rootKey());
          } else {
            stored.behind(StorageTier.GPU, 0, request.names[held - 1]);
          }
          for (int i = held; i < request.names.length; i++) {
            stored.add(request.names[i], request.chain.localHash(i));
          }
          index.stored(cache.slot, stored);
        }
        for (int i = request.names.length - 1; i >= 0; i--) { // evicted from the end
          cache.names.put(request.names[i], true);
        }
        evict(cache);
        return held;
      }

      private void evict(Cache cache) {
        removed.from(StorageTier.GPU, 0);
        Iterator<Long> oldest = cache.names.keySet().iterator();
        for (int over = cache.names.size() - cacheBlocks; over > 0; over--) {
          removed.add(oldest.next());
          oldest.remove();
        }
        if (removed.count() > 0) {
          index.removed(cache.slot, removed);
        }
      }

      private Running end(Running request) {
        Assignment assignment = request.assignment;
        assignment.answered();
        assignment.firstToken();
        assignment.usage(request.promptTokens, request.cachedTokens);
        assignment.served(null, request.cachedTokens, ANSWER_TOKENS);
        assignment.streamed(ANSWER_TOKENS - 1, nowNanos);
        assignment.finished(Outcome.COMPLETED);
        return request;
      }
    }
  }
}
