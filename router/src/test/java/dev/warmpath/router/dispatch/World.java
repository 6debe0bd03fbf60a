package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.SlowTierReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.tokenizer.PromptResult;
import io.micrometer.core.instrument.Counter;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A fleet, an index, a clock that stands still, and a dispatcher among them. */
final class World {

  static final ChainSpace SPACE = new ChainSpace("m", 16, 0);

  final Fleet fleet = new Fleet();
  final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  final Map<Replica, EngineView> views = new ConcurrentHashMap<>();
  final AtomicLong nanos = new AtomicLong();
  final List<String> heard = new CopyOnWriteArrayList<>();
  final Metrics metrics = new Metrics();
  final List<String> given = new CopyOnWriteArrayList<>();
  final Map<Replica, Long> losses = new ConcurrentHashMap<>();
  final Set<Replica> connected = ConcurrentHashMap.newKeySet();
  final List<ReportedReuse> reuses = new CopyOnWriteArrayList<>();
  final Dispatcher dispatcher;

  boolean broken;

  World(String policy) {
    this(policy, Integer.MAX_VALUE);
  }

  World(String policy, int replicaRequests) {
    this(policy, replicaRequests, 4);
  }

  World(String policy, int replicaRequests, int queueRequests) {
    dispatcher =
        new Dispatcher(
            fleet,
            index,
            new EngineEvents() {
              @Override
              public EngineView view(Replica replica, int rank) {
                return views.getOrDefault(replica, EngineView.UNSEEN);
              }

              @Override
              public boolean isConnected(Replica replica, int rank) {
                return connected.contains(replica);
              }

              @Override
              public long losses(Replica replica, int rank) {
                return losses.getOrDefault(replica, 0L);
              }

              @Override
              public void reused(Replica replica, int rank, ReportedReuse reuse) {
                reuses.add(reuse);
              }

              @Override
              public void dispatching(
                  Replica replica, int rank, BlockChain prompt, PromptResult.Tokens tokens) {
                given.add(replica.name() + " " + prompt.blocks());
              }
            },
            Policies.named(policy, Map.of()),
            new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, replicaRequests, queueRequests),
            new Dispatcher.Environment(
                nanos::get, new Random(3), metrics, List.of(new Ear(heard, () -> broken))));
  }

  /** Adds replicas r0, r1, … that are up and whose index is exact and empty. */
  World with(int replicas) {
    for (int i = 0; i < replicas; i++) {
      add("r" + i);
    }
    return this;
  }

  Replica add(String name) {
    Replica replica = new Replica(name, URI.create("http://" + name), Set.of("m"), 1);
    replica.health(Replica.Health.UP);
    int slot = index.addEngine(CopyCounting.PER_COPY);
    CacheGroup group = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 16, 0);
    index.layout(slot, new CacheLayout(List.of(group), 1, 0));
    views.put(replica, new EngineView(slot, SPACE, Trust.EXACT));
    fleet.add(replica);
    return replica;
  }

  Replica replica(String name) {
    return fleet.find(name).orElseThrow();
  }

  void trust(String name, Trust trust) {
    Replica replica = replica(name);
    EngineView view = views.get(replica);
    views.put(replica, view.with(trust));
  }

  void loadBack(String name, int tokens) {
    Replica replica = replica(name);
    EngineView view = views.get(replica);
    views.put(
        replica,
        new EngineView(
            view.slot(), view.space(), view.trust(), new SlowTierReuse(tokens, 1), null, null));
  }

  /** From now on the engine is an SGLang whose hashes show these name spaces. */
  void shows(String name, SglangNamespaces namespaces) {
    Replica replica = replica(name);
    EngineView view = views.get(replica);
    views.put(
        replica,
        new EngineView(view.slot(), view.space(), view.trust(), view.slowTier(), namespaces, null));
  }

  /** The engine stores the first blocks of a prompt, in the name space of its extra_key. */
  void storeShown(String name, int blocks, PromptResult.Tokens prompt) {
    SglangNamespaces namespaces = Objects.requireNonNull(views.get(replica(name)).namespaces());
    String extraKey = Objects.requireNonNull(prompt.extraKey());
    int[] ids = prompt.sequences().get(0);
    PromptKeys keys = Objects.requireNonNull(namespaces.keys(SPACE, ids, prompt.keys(), extraKey));
    store(name, blocks, BlockChain.of(SPACE, ids, keys), StorageTier.GPU);
  }

  /** The engine stores the first blocks of a prompt. */
  void store(String name, int blocks, PromptResult prompt) {
    store(name, blocks, prompt, StorageTier.GPU);
  }

  void store(String name, int blocks, PromptResult prompt, StorageTier tier) {
    store(name, blocks, chain(prompt), tier);
  }

  private void store(String name, int blocks, BlockChain chain, StorageTier tier) {
    StoredBlocks stored = new StoredBlocks().atRoot(tier, 0, SPACE.rootKey());
    for (int i = 0; i < blocks; i++) {
      stored.add(chain.blockKey(i), chain.localHash(i));
    }
    index.stored(views.get(replica(name)).slot(), stored);
  }

  void evict(String name, int block, PromptResult prompt) {
    index.removed(
        views.get(replica(name)).slot(),
        new RemovedBlocks().from(StorageTier.GPU, 0).add(chain(prompt).blockKey(block)));
  }

  /** The engine loses all that it holds. */
  void lose(String name) {
    Replica replica = replica(name);
    index.cleared(views.get(replica).slot());
    losses.merge(replica, 1L, Long::sum);
  }

  static BlockChain chain(PromptResult prompt) {
    PromptResult.Tokens tokens = (PromptResult.Tokens) prompt;
    return BlockChain.of(SPACE, tokens.sequences().get(0), tokens.keys());
  }

  Assignment assign(PromptResult prompt) {
    return assign(request(prompt));
  }

  Assignment assign(PreparedRequest request) {
    return (Assignment) dispatcher.assign(request, Set.of());
  }

  /** A stream with this prompt for the model m. */
  static PreparedRequest request(PromptResult prompt) {
    return request("m", prompt);
  }

  static PreparedRequest request(String model, PromptResult prompt) {
    return request(model, prompt, true, 0);
  }

  static PreparedRequest request(
      String model, PromptResult prompt, boolean streamed, int estimatedTokens) {
    return new PreparedRequest(model, Prompt.of(prompt), null, streamed, estimatedTokens, 0, null);
  }

  /** A prompt that shares its first tokens with all others of the same family. */
  static PromptResult.Tokens prompt(int sharedTokens, int ownTokens, int family, int own) {
    int[] ids =
        IntStream.range(0, sharedTokens + ownTokens)
            .map(i -> (i < sharedTokens ? family : 1000 + own) * 100_000 + i)
            .toArray();
    return new PromptResult.Tokens(List.of(ids), PromptKeys.NONE, true, true, null);
  }

  static PromptResult.Tokens prompt(int tokens) {
    return prompt(tokens, 0, 1, 0);
  }

  EngineReport report(String engine) {
    return dispatcher.report().stream()
        .filter(report -> report.engine().equals(engine))
        .findFirst()
        .orElseThrow();
  }

  /** How often this was counted. */
  double counted(Metric metric, String... labelValues) {
    return metric.counter(metrics.registry(), labelValues).count();
  }

  /** How often requests were routed without their prompt, by cause. */
  Map<String, Double> fallbacks() {
    return Metric.FALLBACKS_TOTAL.in(metrics.registry()).counters().stream()
        .collect(
            Collectors.toMap(
                counter -> String.valueOf(counter.getId().getTag("cause")), Counter::count));
  }

  void pass(long millis) {
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Writes down what it hears. */
  private record Ear(List<String> heard, BooleanSupplier broken) implements DispatchListener {

    @Override
    public void assigned(PreparedRequest request, Assignment assignment) {
      if (broken.getAsBoolean()) {
        throw new IllegalStateException("broken");
      }
      Choice choice = assignment.choice();
      heard.add("assigned " + choice.policy() + " " + choice.reason() + " " + choice.engine());
    }

    @Override
    public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
      heard.add("miscounted " + routerTokens + " " + engineTokens);
    }

    @Override
    public void finished(Assignment assignment, Outcome outcome) {
      heard.add("finished " + assignment.engine() + " " + outcome);
    }
  }
}
