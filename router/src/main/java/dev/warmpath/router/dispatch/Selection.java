package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.DispatchResult.Cause;
import dev.warmpath.router.fleet.AnswerModel;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.EngineTable;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.TransferCost;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.PromptBlocks;
import dev.warmpath.router.routing.RoutingRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The engines among which one request's engine is chosen: who may get it, what the index shows of
 * its prompt on each, and how they stand. Used again for the next request.
 *
 * <p>Confined to one thread.
 */
final class Selection {

  /** The prompt's blocks, of the first candidate's chain that is known. */
  private static final class FirstBlocks implements PromptBlocks {
    private @Nullable BlockChain chain;

    @Override
    public int count() {
      return chain == null ? 0 : chain.blocks();
    }

    @Override
    public int blockSizeTokens() {
      return chain == null ? NONE.blockSizeTokens() : chain.space().blockSizeTokens();
    }

    @Override
    public long key(int index) {
      return Objects.requireNonNull(chain).blockKey(index);
    }
  }

  /** Engines that may do the same for the request, a row each. */
  static final class Options {
    private final EngineState.Part part;
    private final List<Contender> rows = new ArrayList<>();
    private final Candidates candidates = new Candidates();

    private Options(EngineState.Part part) {
      this.part = part;
    }

    /** What they do of it. */
    EngineState.Part part() {
      return part;
    }

    Candidates candidates() {
      return candidates;
    }

    /** The engine of a candidate. */
    Contender row(int row) {
      return rows.get(row);
    }

    /** What that one gets from another engine's memory; null for nothing. */
    Contender.@Nullable Pull pull(int row) {
      return part == EngineState.Part.WHOLE ? rows.get(row).pull() : null;
    }

    boolean isEmpty() {
      return rows.isEmpty();
    }

    private void add(Contender contender, Candidates from, int row) {
      rows.add(contender);
      candidates.add(from, row);
    }

    private void keep(Predicate<Contender> kept) {
      int count = 0;
      for (int row = 0; row < rows.size(); row++) {
        if (kept.test(rows.get(row))) {
          candidates.move(row, count);
          rows.set(count++, rows.get(row));
        }
      }
      rows.subList(count, rows.size()).clear();
      candidates.truncate(count);
    }

    private void clear() {
      rows.clear();
      candidates.clear();
    }
  }

  /** Hears why a replica is none of them. */
  interface PassedOver {
    PassedOver NONE = (replica, cause) -> {};

    void because(String engine, Cause cause);
  }

  private static final Set<Cause> RETRIED = EnumSet.of(Cause.DOWN, Cause.STUCK, Cause.ASLEEP);
  private static final int MODELS_UNKNOWN = Replica.UNTRIED + 1;

  /** From one of so many a prompt may be pulled: those that hold the most of it. */
  private static final int MOST_HOLDERS = 8;

  private final List<Contender> pool = new ArrayList<>();
  private int contenders;
  private final Options alone = new Options(EngineState.Part.WHOLE);
  private final Options prefills = new Options(EngineState.Part.PROMPT);
  private final Options decodes = new Options(EngineState.Part.ANSWER);
  private final Options reached = new Options(EngineState.Part.ANSWER);
  private final List<Contender> holders = new ArrayList<>();
  private boolean mayBeSplit;
  private final EngineState.SelectionState state = new EngineState.SelectionState();
  private final PrefixMatches matches = new PrefixMatches();
  private final FirstBlocks blocks = new FirstBlocks();
  private Cause nearest = Cause.NO_REPLICA;

  /** Takes the engines that may get the request, with what the index shows on them. */
  void gather(
      EngineTable table,
      PreparedRequest request,
      Set<String> excluded,
      EngineEvents engineEvents,
      PassedOver passedOver) {
    gatherOnce(table, request, excluded, engineEvents, passedOver);
    if (contenders == 0 && RETRIED.contains(nearest)) {
      gatherOnce(table, request, excluded, engineEvents, passedOver); // one may just have changed
    }
    blocks.chain = firstChain();
  }

  private void gatherOnce(
      EngineTable table,
      PreparedRequest request,
      Set<String> excluded,
      EngineEvents engineEvents,
      PassedOver passedOver) {
    contenders = 0;
    nearest = Cause.NO_REPLICA;
    mayBeSplit = false;
    int illness = leastIllness(table, request, excluded);
    for (List<EngineState> ranks : table.engines()) {
      Replica replica = ranks.get(0).replica();
      boolean isPrefill = isOnlyPrefill(replica);
      if (isPrefill && !request.splittable()) {
        continue;
      }
      Cause obstacle = obstacle(replica, request, excluded, isPrefill ? 0 : illness);
      if (obstacle == null) {
        ranks.forEach(engine -> add(engine, request.prompt(), engineEvents));
        mayBeSplit |= request.splittable() && replica.transfer().prefills();
      } else {
        nearest = obstacle.compareTo(nearest) > 0 ? obstacle : nearest;
        passedOver.because(replica.name(), obstacle);
      }
    }
  }

  private @Nullable BlockChain firstChain() {
    for (int i = 0; i < contenders; i++) {
      BlockChain chain = pool.get(i).chain();
      if (chain != null) {
        return chain;
      }
    }
    return null;
  }

  private void add(EngineState engine, Prompt prompt, EngineEvents engineEvents) {
    EngineView view = engineEvents.view(engine.replica(), engine.dpRank());
    if (contenders == pool.size()) {
      pool.add(new Contender());
    }
    pool.get(contenders++)
        .begin(engine, view, prompt.chain(view), engineEvents.store(engine.replica()));
  }

  /**
   * How ill the replicas are that may get the request. 0, well, if any is well, even if it has
   * failed this request. Otherwise the least ill that have not: "down" is only an estimate, and
   * without a replica the request would fail for certain.
   */
  private static int leastIllness(
      EngineTable table, PreparedRequest request, Set<String> excluded) {
    int least = MODELS_UNKNOWN + Replica.UNTRIED;
    boolean isNamed = false;
    for (List<EngineState> ranks : table.engines()) {
      Replica replica = ranks.get(0).replica();
      if (isOnlyPrefill(replica)
          || !replica.serves(request.model())
          || replica.draining()
          || isOther(replica, request)) {
        continue;
      }
      int illness = illness(replica, request);
      if (illness == 0) {
        return 0;
      }
      isNamed |= illness < MODELS_UNKNOWN;
      least = excluded.contains(replica.name()) ? least : Math.min(least, illness);
    }
    return isNamed ? Math.min(least, Replica.UNTRIED) : least;
  }

  /** A replica that is not well and does not name the model is the last to be tried. */
  private static int illness(Replica replica, PreparedRequest request) {
    int illness = replica.illness();
    boolean isGuess = illness > 0 && request.model() != null && !replica.namesModels();
    return isGuess ? MODELS_UNKNOWN + illness : illness;
  }

  private static @Nullable Cause obstacle(
      Replica replica, PreparedRequest request, Set<String> excluded, int illness) {
    if (!replica.serves(request.model())) {
      return Cause.UNKNOWN_MODEL;
    }
    if (replica.draining()) {
      return Cause.DRAINING;
    }
    if (isOther(replica, request)) {
      return Cause.EXCLUDED;
    }
    boolean isExcluded = excluded.contains(replica.name());
    int own = illness(replica, request);
    if (own == 0 && illness == 0) {
      return isExcluded ? Cause.EXCLUDED : null;
    }
    if (isExcluded || own != illness || replica.illness() == Replica.UNTRIED) {
      if (replica.health() == Replica.Health.DOWN) {
        return Cause.DOWN;
      }
      return replica.asleep() ? Cause.ASLEEP : Cause.STUCK;
    }
    return null;
  }

  private static boolean isOther(Replica replica, PreparedRequest request) {
    Set<String> only = request.onlyReplicas();
    return only != null && !only.contains(replica.name());
  }

  /** Asks the index, once for each chain. */
  void match(KvIndex index, Prompt prompt, long nowNanos) {
    for (int i = 0; i < contenders; i++) {
      Contender first = pool.get(i);
      if (first.isMatched() || !first.isIndexed()) {
        continue;
      }
      BlockChain chain = first.chain();
      index.match(Objects.requireNonNull(chain), matches);
      int most = matches.mostTokens();
      for (int j = i; j < contenders; j++) {
        Contender contender = pool.get(j);
        if (contender.chain() == chain && contender.isIndexed()) {
          long held = index.blocksOnGpu(contender.view().slot());
          contender.matched(matches, held, prompt.readsSlowTiers(), most, nowNanos);
        }
      }
    }
  }

  /**
   * Fills the candidates with how the engines stand now; ejected ones are among them only if there
   * are no others, not even full ones: a request had better wait for these.
   *
   * @param rule whether they read back what only slower memory holds
   * @param pulls whether one may get more of the prompt from another one
   * @param mostRequests a replica with as many in flight gets no more
   * @return whether there is any
   */
  boolean fillCandidates(
      PreparedRequest request,
      LoadBack rule,
      boolean pulls,
      int mostRequests,
      long nowNanos,
      PassedOver passedOver) {
    clear();
    Candidates candidates = alone.candidates;
    boolean noAnswerer = true;
    boolean noPrefill = true;
    for (int i = 0; i < contenders; i++) { // all locks before any replica's count: see Dispatcher
      Contender contender = pool.get(i);
      contender.fillCandidate(
          candidates, request.prompt(), rule, request.capsLoads(), nowNanos, state);
      boolean isOnlyPrefill = isOnlyPrefill(contender.engine().replica());
      noAnswerer &= contender.isEjected() || isOnlyPrefill;
      noPrefill &= contender.isEjected() || !isOnlyPrefill;
    }
    for (int i = 0; i < contenders; i++) {
      Contender contender = pool.get(i);
      if (isFull(contender, mostRequests)) {
        nearest = Cause.FULL;
        passedOver.because(contender.engine().replica().name(), Cause.FULL);
      } else if (contender.isEjected()
          && !(isOnlyPrefill(contender.engine().replica()) ? noPrefill : noAnswerer)) {
        passedOver.because(contender.engine().name(), Cause.EJECTED);
      } else {
        take(contender, i);
      }
    }
    candidates.truncate(alone.rows.size());
    if (pulls && rule != LoadBack.NEVER && request.capsLoads() && request.prompt().readsCache()) {
      pull(request.prompt(), nowNanos);
    }
    prefills.keep(from -> decodes.rows.stream().anyMatch(to -> isPair(from, to)));
    return !alone.isEmpty() || isSplittable();
  }

  /** Those that are full hand out what they hold all the same. */
  private void pull(Prompt prompt, long nowNanos) {
    holders.clear();
    for (int i = 0; i < contenders; i++) {
      if (pool.get(i).handsOut(nowNanos)) {
        holders.add(pool.get(i));
      }
    }
    if (holders.size() > MOST_HOLDERS) {
      holders.sort(Comparator.comparingInt(Contender::handedTokens).reversed());
      holders.subList(MOST_HOLDERS, holders.size()).clear();
    }
    if (!holders.isEmpty()) {
      for (int row = 0; row < alone.rows.size(); row++) {
        alone.rows.get(row).pull(alone.candidates, row, holders, prompt, nowNanos);
      }
    }
  }

  private static boolean isOnlyPrefill(Replica replica) {
    return replica.transfer().role() == KvTransfer.Role.PREFILL;
  }

  /** Whether any that can be told not to read it back holds a part in slower memory only. */
  boolean readsBack() {
    for (int i = 0; i < contenders; i++) {
      Contender each = pool.get(i);
      if (each.slowTier() != Contender.SlowTier.NOTHING
          && each.engine().replica().transfer().capsLoads()) {
        return true;
      }
    }
    return false;
  }

  /** Sorts a contender, whose row is still where it was filled, by what it may do. */
  private void take(Contender contender, int row) {
    KvTransfer transfer = contender.engine().replica().transfer();
    if (mayBeSplit && transfer.prefills()) {
      prefills.add(contender, alone.candidates, row);
    }
    if (mayBeSplit && transfer.decodes()) {
      decodes.add(contender, alone.candidates, row);
      decodes.candidates.loading(0); // what it lacks comes from the prefill
    }
    if (transfer.servesAlone()) {
      alone.candidates.move(row, alone.rows.size());
      alone.rows.add(contender);
    }
  }

  /** Whether one engine can compute the prompt for another one. */
  boolean isSplittable() {
    return !prefills.isEmpty() && !decodes.isEmpty();
  }

  /** Where requests are split, prices what each engine's work does to others there. */
  void priceSplit(RoutingRequest request, AnswerModel answers) {
    price(alone, request, answers, true, true);
    price(prefills, request, answers, true, false);
    price(decodes, request, answers, false, true); // a transfer stops no step
  }

  private static void price(
      Options options,
      RoutingRequest request,
      AnswerModel answers,
      boolean computes,
      boolean isAnswered) {
    Candidates rows = options.candidates;
    for (int row = 0; row < rows.count(); row++) {
      double answer = 0;
      if (isAnswered) {
        double share = options.row(row).engine().prefillShare(request.nowNanos());
        answer = Plan.ANSWER_WEIGHT * answers.millis(request, rows, row, share);
      }
      double held = Plan.ANSWER_WEIGHT * rows.running(row) + rows.waiting(row);
      rows.price(row, answer, computes ? held : 0);
    }
  }

  /** The engines that may compute the prompt for another one. */
  Options prefills() {
    return prefills;
  }

  /**
   * The engines that may answer what {@code from} has computed; what they lack costs its transfer
   * instead of being computed.
   */
  Options reachedFrom(Contender from) {
    reached.clear();
    for (int row = 0; row < decodes.rows.size(); row++) {
      Contender to = decodes.row(row);
      if (isPair(from, to)) {
        reached.add(to, decodes.candidates, row);
        TransferCost cost = to.engine().transferCost(from.engine());
        reached.candidates.cost(reached.rows.size() - 1, new PrefillCost(cost.millisPerToken(), 0));
      }
    }
    return reached;
  }

  /** Unequal blocks would be read as something else. */
  private static boolean isPair(Contender from, Contender to) {
    return from.engine() != to.engine()
        && from.engine().replica().transfer().reaches(to.engine().replica().transfer())
        && EngineReport.mayBePaired(from.view().space(), to.view().space());
  }

  private static boolean isFull(Contender contender, int mostRequests) {
    Replica replica = contender.engine().replica();
    return replica.requests() >= Math.min(mostRequests, replica.limit());
  }

  /** The prompt's blocks on each. */
  List<EngineChain> chains() {
    return pool.subList(0, contenders).stream()
        .map(each -> new EngineChain(each.engine().replica().name(), each.view(), each.chain()))
        .toList();
  }

  boolean isEmpty() {
    return contenders == 0;
  }

  /** Why there is none, if there is none: what keeps back the replica that came nearest. */
  Cause nearest() {
    return nearest;
  }

  /** The engines that may serve it alone. */
  Options alone() {
    return alone;
  }

  /** The prompt's blocks, until the release. */
  PromptBlocks blocks() {
    return blocks;
  }

  /** The same as they are; null if they are not known. */
  @Nullable BlockChain firstBlocks() {
    return blocks.chain;
  }

  /** Lets go of all that the request was about. */
  void release() {
    for (int i = 0; i < contenders; i++) {
      pool.get(i).release();
    }
    contenders = 0;
    clear();
    blocks.chain = null;
  }

  private void clear() {
    alone.clear();
    prefills.clear();
    decodes.clear();
    reached.clear();
    holders.clear();
  }
}
