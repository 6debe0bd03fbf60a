package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineMeters;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.image.PlacedImages;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An engine that was given a request, and the load and expected blocks that are reserved for it
 * there until {@link #finished}.
 *
 * <p>To be told, each at most once that counts: {@link #answered}, {@link #firstToken}, {@link
 * #usage}, {@link #finished}. Whatever comes again, or after the end, does nothing.
 *
 * <p>Thread-safe.
 */
public final class Assignment implements DispatchResult {

  private final Dispatcher dispatcher;
  private final EngineState engine;
  private final Choice choice;
  private final int promptTokens;
  private final Prompt prompt;
  private final boolean comparable;
  private final @Nullable String model;
  private final int lossesBefore;
  private final Reservation reservation;
  private final @Nullable EngineState source;
  private final @Nullable Assignment prefill;
  private final AtomicBoolean reported = new AtomicBoolean();

  /** Of its prompt, by the engine's report; below 0 before there is one. */
  private volatile int reportedCachedTokens = -1;

  private volatile boolean untold;
  private volatile boolean computed;
  private volatile int answerTokens;
  private volatile int steps;
  private volatile long lastTokenNanos;
  private volatile long[] note = Policy.NOTHING;

  Assignment(
      Dispatcher dispatcher,
      EngineState engine,
      PreparedRequest request,
      Choice choice,
      Reservation reservation,
      @Nullable EngineState source,
      @Nullable Assignment prefill) {
    this.dispatcher = dispatcher;
    this.engine = engine;
    this.promptTokens = request.prompt().lengthTokens();
    this.prompt = request.prompt();
    this.comparable = request.prompt().comparable();
    this.model = request.model();
    this.lossesBefore = (int) dispatcher.engineEvents().losses(engine.replica(), engine.dpRank());
    this.choice = choice;
    this.reservation = reservation;
    this.source = source;
    this.prefill = prefill;
  }

  /**
   * That of the engine which computes the prompt for this one; null if this one does. It ends with
   * this one at the latest.
   */
  public @Nullable Assignment prefill() {
    return prefill;
  }

  /**
   * The blocks that {@link #prefill} has computed could be used here.
   *
   * @param millis since they could be fetched
   */
  public void transferred(double millis) {
    Assignment from = prefill;
    if (from != null) {
      engine.transferred(from.engine, lackedTokens(promptTokens), millis);
    }
  }

  /** Whether the engine must be told to read nothing back from slower memory. */
  public boolean capsLoads() {
    return choice.slowTier() == Contender.SlowTier.COMPUTED;
  }

  /** The engine from whose memory this one must be told to get more of the prompt, or null. */
  public @Nullable EngineState source() {
    return source;
  }

  /** Whether what the engine is told of the prompt would be wrong of another one. */
  public boolean isForItAlone() {
    return capsLoads() || source != null || prefill != null;
  }

  /**
   * It cannot be told: the engine reads back what it finds, which nothing here has foreseen. Or it
   * had the request already: what the index shows of its prompt there may come from itself.
   */
  public void untold() {
    untold = true;
  }

  /** Whether it could not be told what was foreseen. */
  public boolean isUntold() {
    return untold;
  }

  /**
   * Tokens of the prompt that the engine did not hold when it was chosen.
   *
   * @param reported the prompt's length as the engine counts it; below 0 if it does not tell
   */
  public int lackedTokens(int reported) {
    BlockChain chain = choice.blocks();
    int held = chain == null ? 0 : reservation.heldBlocks() * chain.space().blockSizeTokens();
    return Math.max(0, (reported < 0 ? promptTokens : reported) - held);
  }

  /** Prompt tokens that it is expected to compute; below 0 if nothing is known of the prompt. */
  public int uncachedTokens() {
    Prediction prediction = choice.prediction();
    return promptTokens - (prediction.predicts() ? prediction.cachedTokens() : 0);
  }

  public Replica replica() {
    return engine.replica();
  }

  /** The data-parallel rank that it is meant for; 0 for a replica with one engine. */
  public int dpRank() {
    return engine.dpRank();
  }

  /** The engine itself. */
  EngineState engineState() {
    return engine;
  }

  /** The engine's name, as it is shown in metrics. */
  public String engine() {
    return choice.engine();
  }

  /** What is counted of the engine's requests. */
  public EngineMeters meters() {
    return engine.meters();
  }

  /** Why it was chosen, and what it is expected to report. */
  public Choice choice() {
    return choice;
  }

  /** What other routers' policies must remember. */
  void note(long[] toRemember) {
    note = toRemember;
  }

  /** It as other routers are told. */
  public Booking booking() {
    return reservation.booking(engine.name(), note);
  }

  /** Numbers it among the assignments of this process. */
  public long number() {
    return reservation.turn();
  }

  /** A byte of the engine's response came. */
  public void responded(long nowNanos) {
    engine.responded(nowNanos);
  }

  /** The engine began an answer, if only to refuse the request as wrong: it is alive. */
  public void answered() {
    engine.answered(reservation);
  }

  /** The engine asked for so much time without requests. */
  public void rest(int seconds) {
    engine.rest(seconds, dispatcher.nanos());
  }

  /** Whether it has ended. */
  public boolean isOver() {
    return engine.isOver(reservation);
  }

  /** Whether a stream has brought its first content. */
  boolean isComputed() {
    return computed;
  }

  /** The model that the request names, or null. */
  public @Nullable String model() {
    return model;
  }

  /** The images of its prompt, as far as they are known; null for none. */
  public @Nullable PlacedImages images() {
    return prompt.images();
  }

  /** Whether its prompt may have images of which nothing is known. */
  public boolean hasUnreadImages() {
    return prompt.hasUnreadImages();
  }

  /** A stream brought its first content: the prompt has been computed. */
  public void firstToken() {
    computed = true;
    if (engine.firstToken(reservation, dispatcher.nanos())) {
      dispatcher.listeners().forEach(listener -> listener.prefilled(this));
      dispatcher.computed();
    }
  }

  /**
   * The engine reported its usage.
   *
   * @param promptTokens the prompt's length as the engine counts it
   * @param cachedTokens how many of them it did not compute
   */
  public void usage(int promptTokens, int cachedTokens) {
    if (engine.isOver(reservation) || !reported.compareAndSet(false, true)) {
      return;
    }
    for (DispatchListener listener : dispatcher.listeners()) {
      listener.reported(this, promptTokens, cachedTokens);
    }
    rememberPrefix(cachedTokens);
    if (untold) {
      return; // what was predicted is another request's
    }
    reportedCachedTokens = cachedTokens;
    Prediction prediction = choice.prediction();
    if (prediction.predicts()) {
      meters().countPrediction(prediction.cachedTokens(), cachedTokens);
      UncachedTokens uncached = choice.uncached(promptTokens, cachedTokens);
      if (uncached != null) {
        dispatcher.countUncached(replica(), model, uncached);
      }
    }
    countPull(cachedTokens);
    BlockChain chain = choice.blocks();
    if (capsLoads() && prediction.predicts()) {
      boolean isIgnored = cachedTokens > prediction.cachedTokens();
      engine.capped(reservation, isIgnored, dispatcher.nanos());
    }
    if (comparable && this.promptTokens != promptTokens) {
      meters().countMiscount();
      for (DispatchListener listener : dispatcher.listeners()) {
        listener.miscounted(this, this.promptTokens, promptTokens);
      }
    } else if (comparable && chain != null && source == null) {
      Store.Read read = choice.stored();
      int own =
          read == null || !prediction.predicts() ? prediction.cachedTokens() : read.ownTokens();
      PlacedImages images = prompt.images();
      int blockSizeTokens = chain.space().blockSizeTokens();
      if (images != null && prediction.predicts()) {
        images.judge(own, cachedTokens, blockSizeTokens);
      }
      if (images == null || !images.mayExplain(own, cachedTokens, blockSizeTokens)) {
        dispatcher.engineEvents().reused(replica(), dpRank(), reuse(chain, cachedTokens, own));
        if (prefill == null) {
          reportStore(chain, prediction, cachedTokens);
        }
      }
    }
  }

  private void rememberPrefix(int cachedTokens) {
    BlockChain chain = choice.blocks();
    if (comparable && chain != null && cachedTokens > 0 && prefill == null) {
      PromptResult.Tokens tokens = prompt.tokens();
      boolean isInTheOpen =
          tokens != null && tokens.keys().cacheSalt() == null && tokens.extraKey() == null;
      dispatcher
          .prefixes()
          .add(
              model,
              chain,
              cachedTokens / chain.space().blockSizeTokens(),
              tokens == null || tokens.hasImages() ? null : tokens.firstSequence(),
              isInTheOpen ? reservation.heldBlocks() : 0);
    }
  }

  /** What the engine reused says of the store that it reads, too. */
  private void reportStore(BlockChain chain, Prediction prediction, int cachedTokens) {
    EngineEvents events = dispatcher.engineEvents();
    Store store = events.store(replica());
    Store.Read read = choice.stored();
    if (store == null) {
      return;
    }
    if (read != null) {
      read.store().answered(chain, read, cachedTokens);
    }
    if (store.rules().publishes()) {
      int own = read == null ? prediction.cachedTokens() : read.ownTokens();
      boolean isRead = prediction.predicts() && cachedTokens > own;
      int known = read == null ? own : read.heldTokens();
      if (isRead && cachedTokens > known && !capsLoads()) { // else it was known, and read unasked
        store.cameUnknown(cachedTokens - known, dispatcher.nanos());
      }
      if (isRead || (read != null && read.isSure())) {
        int shown = read != null && read.isSure() ? read.heldTokens() : Prediction.NONE;
        events.reused(store, reuse(chain, isRead ? cachedTokens : 0, shown));
      }
    }
    store.markUsed(chain, dispatcher.nanos());
  }

  private ReportedReuse reuse(BlockChain chain, int cachedTokens, int predictedTokens) {
    return new ReportedReuse(chain, cachedTokens, predictedTokens, reservation.sinceNanos());
  }

  /**
   * The engine has answered it whole.
   *
   * @param model as the client called it
   * @param cached tokens of the prompt that were not computed; below 0 if no engine tells
   * @param answer tokens; 0 if they are not known
   */
  public void served(@Nullable String model, int cached, int answer) {
    answerTokens = answer;
    Replica replica = replica();
    BlockChain chain = choice.blocks();
    if (dispatcher.transfers()
        && chain != null
        && answer > 0
        && model != null
        && replica.models().contains(model)) {
      EngineState computes = prefill == null ? engine : prefill.engine;
      int uncached = cached < 0 ? uncachedTokens() : Math.max(0, promptTokens - cached);
      double promptMillis = computes.learned().cost().millis(uncached, promptTokens);
      long capacityTokens = replica.gpuBlocks() / replica.ranks() * chain.space().blockSizeTokens();
      double answerMillis = engine.fullMillis(answer, promptTokens + answer / 2, capacityTokens);
      dispatcher.ratios().add(model, promptMillis, answerMillis, dispatcher.nanos());
    }
  }

  /**
   * Its stream came as the engine made it, so that it shows what a step takes.
   *
   * @param decoded tokens that came after the first ones
   * @param lastNanos when the last of them came, by the dispatcher's clock
   */
  public void streamed(int decoded, long lastNanos) {
    lastTokenNanos = lastNanos;
    steps = decoded;
  }

  /** What came of a pull: what is reported then says nothing of the engine's own memory. */
  private void countPull(int cachedTokens) {
    Choice.Pulled pulled = choice.pulled();
    EngineState from = source;
    if (pulled != null && from != null) {
      int missed = Math.max(0, choice.prediction().cachedTokens() - cachedTokens);
      long now = dispatcher.nanos();
      engine.pulled(missed >= pulled.tokens(), now);
      from.handedOut(missed >= pulled.tokens(), now);
      meters().countSlowTier("missed", Math.min(missed, pulled.tokens()));
    }
  }

  private int reusedTokens() {
    int told = reportedCachedTokens;
    Prediction prediction = choice.prediction();
    return told < 0 && prediction.predicts() ? prediction.cachedTokens() : Math.max(0, told);
  }

  /** The request ended in one way or another; what is reserved for it is given back. */
  public void finished(Outcome outcome) {
    if (giveBack(outcome)) {
      dispatcher.freed();
    }
  }

  /** The same, but nobody who waits gets the place yet. */
  boolean giveBack(Outcome outcome) {
    if (prefill != null) {
      prefill.giveBack(Outcome.CANCELLED);
    }
    boolean ended = engine.end(reservation, outcome, dispatcher.nanos());
    if (ended && outcome == Outcome.COMPLETED) {
      engine.teach(dispatcher.answers(), reservation, steps, lastTokenNanos, dispatcher.nanos());
    }
    BlockChain chain = choice.blocks();
    if (ended && outcome == Outcome.COMPLETED && chain != null) {
      dispatcher
          .history()
          .computed(chain, engine.number(), lossesBefore, reusedTokens(), answerTokens);
    }
    if (ended) {
      dispatcher.evictions().remove(this);
      meters().countOutcome(outcome);
      for (DispatchListener listener : dispatcher.listeners()) {
        listener.finished(this, outcome);
      }
    }
    return ended;
  }
}
