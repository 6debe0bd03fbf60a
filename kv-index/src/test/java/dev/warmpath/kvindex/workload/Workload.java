package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.workload.Forest.Prompt;
import dev.warmpath.kvindex.workload.Habits.Odds;
import dev.warmpath.kvindex.workload.Habits.Size;
import dev.warmpath.kvindex.workload.Habits.Trees;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Step.Clear;
import dev.warmpath.kvindex.workload.Step.Leave;
import dev.warmpath.kvindex.workload.Step.Relayout;
import dev.warmpath.kvindex.workload.Step.Reload;
import dev.warmpath.kvindex.workload.Step.Suspend;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Makes the script of a seed: engines that come, store, drop and go, and get in each other's way.
 *
 * <p>Confined to one thread.
 */
public final class Workload {

  private final Random random;
  private final Habits habits;
  private final Forest forest;
  private final int firstDialect;
  private final List<Tenant> tenants = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();
  private int arrived;
  private int told;

  private Workload(Random random, Habits habits) {
    this.random = random;
    this.habits = habits;
    forest = Forest.grow(random, habits.size().trees());
    firstDialect = random.nextInt(Dialect.KINDS);
  }

  /** The script of a seed; the same for ever. */
  public static Script of(long seed) {
    Random random = new Random(seed * 0x5DEECE66DL + 11);
    return of(random, Habits.any(random));
  }

  /**
   * The script of a seed for an index that has little room: much is stored, nothing is a lie, and
   * no orphan is dropped.
   */
  public static Script honest(long seed) {
    Random random = new Random(seed * 0x5DEECE66DL + 13);
    Size size = new Size(1 + random.nextInt(6), new Trees(200, 200, false), 400, 100_000);
    Odds odds = new Odds(random.nextInt(2) * 20, 0, 0, 3, 15);
    return of(random, new Habits(size, odds, 1 + random.nextInt(2), 2, random.nextBoolean()));
  }

  /**
   * A script with thousands of steps, by turns with many blocks, engines or branches; what comes
   * seldom there is more often, so that each kind of step is in each kind of script.
   */
  public static Script large(long seed) {
    Random random = new Random(seed * 0x5DEECE66DL + 17);
    return switch ((int) (seed % 3)) {
      case 0 -> large(random, new Size(40, new Trees(1_500, 150, false), 4_000, 100), 6);
      case 1 -> large(random, new Size(1_000, new Trees(30, 60, false), 3_000, 100), 50);
      default -> large(random, new Size(6, new Trees(300, 260, true), 4_000, 100), 2);
    };
  }

  private static Script large(Random random, Size size, int churn) {
    Odds odds = new Odds(random.nextInt(2) * 20, 5, random.nextInt(2), churn, 40);
    return of(random, new Habits(size, odds, 1, 100, false));
  }

  public static Script of(Random random, Habits habits) {
    Workload workload = new Workload(random, habits);
    workload.run();
    return new Script(habits.size().maxOrphans(), workload.forest.questions(), workload.steps);
  }

  private void run() {
    int atOnce = habits.size().isFleet() ? habits.size().engines() : 1;
    for (int i = 0; i < atOnce; i++) {
      arrive();
    }
    while (steps.size() < habits.size().steps()) {
      if (random.nextInt(100) < habits.odds().churn()) {
        churn();
      } else if (!tenants.isEmpty()) {
        blocks(tenants.get(random.nextInt(tenants.size())));
      } else {
        arrive();
      }
    }
  }

  private void churn() {
    switch (random.nextInt(17)) {
      case 0, 1, 2 -> arrive();
      case 3, 4 -> leave();
      case 5 -> clear();
      case 6 -> steps.add(new Reload());
      case 7, 8, 9 -> suspend();
      case 10, 11 -> confirm();
      case 14, 15, 16 -> compute();
      default -> relayout();
    }
  }

  private void blocks(Tenant tenant) {
    Prompt prompt = prompt();
    if (random.nextInt(100) < habits.odds().drop()) {
      steps.addAll(tenant.drop(prompt));
    } else {
      steps.addAll(tenant.store(prompt, forest.places()));
      if (habits.size().isFleet()) {
        follow(prompt);
      }
    }
  }

  /** Many engines hold the same. */
  private void follow(Prompt prompt) {
    int first = random.nextInt(tenants.size());
    int last = Math.min(tenants.size(), first + random.nextInt(2 + habits.size().engines() / 8));
    for (Tenant tenant : tenants.subList(first, last)) {
      steps.addAll(tenant.store(prompt, forest.places()));
    }
  }

  /** Among few, the first two are told of most; the teeth of a comb in order. */
  private Prompt prompt() {
    int all = forest.prompts().size();
    if (habits.size().trees().isComb() && random.nextInt(4) != 0) {
      return forest.prompts().get(told++ % all);
    }
    int count = all > 10 || random.nextInt(3) == 0 ? all : 2;
    return forest.prompts().get(random.nextInt(count));
  }

  private void arrive() {
    if (tenants.size() < habits.size().engines()) {
      int more = random.nextInt(habits.dialects());
      int dialect = more < Dialect.KINDS ? (firstDialect + more) % Dialect.KINDS : more;
      tenants.add(new Tenant(arrived, dialect, habits, random));
      CopyCounting counting =
          random.nextInt(3) == 0 ? CopyCounting.PRESENCE : CopyCounting.PER_COPY;
      steps.add(new Arrive(arrived++, counting, layout()));
    }
  }

  private void leave() {
    if (!tenants.isEmpty()) {
      Tenant gone = tenants.remove(random.nextInt(tenants.size()));
      steps.add(new Leave(gone.number()));
    }
  }

  private void clear() {
    if (!tenants.isEmpty()) {
      Tenant empty = tenants.get(random.nextInt(tenants.size()));
      empty.forgetAll();
      steps.add(new Clear(empty.number()));
    }
  }

  private void suspend() {
    if (!tenants.isEmpty()) {
      steps.add(new Suspend(tenants.get(random.nextInt(tenants.size())).number()));
    }
  }

  private void confirm() {
    if (!tenants.isEmpty()) {
      steps.add(tenants.get(random.nextInt(tenants.size())).confirm(prompt()));
    }
  }

  private void compute() {
    if (!tenants.isEmpty()) {
      steps.add(tenants.get(random.nextInt(tenants.size())).compute(prompt()));
    }
  }

  private void relayout() {
    if (!tenants.isEmpty()) {
      Tenant tenant = tenants.get(random.nextInt(tenants.size()));
      steps.add(new Relayout(tenant.number(), layout()));
    }
  }

  private CacheLayout layout() {
    List<ChainSpace> spaces = forest.spaces();
    int space = random.nextInt(4) == 0 ? spaces.size() - 1 : 0;
    int size = spaces.get(space).blockSizeTokens();
    return habits.anyLayout() && random.nextBoolean()
        ? Layouts.any(random, size)
        : Layouts.plain(size);
  }
}
