package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;

/** What can break, one row of the matrix each. Immutable. */
enum Fault {
  LOST_BATCH("lost batch", StreamCounter.GAPS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.lose(1);
      return rig;
    }
  },

  BURST("losses beyond the replay buffer", StreamCounter.LOST_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.lose(2 * FaultRig.REPLAYED_BATCHES);
      return rig;
    }
  },

  SLOW_JOINER("late router", StreamCounter.LOST_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      return rig.joinedLate(2 * FaultRig.REPLAYED_BATCHES);
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  SLOW_JOINER_ANSWERS("late router, answers with `cached_tokens`", StreamCounter.LOST_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      return rig.joinedLate(2 * FaultRig.REPLAYED_BATCHES).answering(GivenPrompts.NOT_HASHED);
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  SLOW_JOINER_HASHES("late router, computed names (vLLM)", StreamCounter.LOST_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      return rig.joinedLate(2 * FaultRig.REPLAYED_BATCHES).answering(GivenPrompts.HASHED);
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  RECONNECT("broken connection, three requests missed", StreamCounter.RECONNECTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.reconnect(3);
      return rig;
    }
  },

  RECONNECT_KNOWN("broken connection, start time known", StreamCounter.RECONNECTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.seeStart();
      rig.reconnect(3);
      rig.seeStart();
      return rig;
    }
  },

  ENGINE_RESTART("engine restart, lower sequence", StreamCounter.RESTARTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.engine.restart();
      rig.reconnect(2);
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.EXACT;
    }
  },

  ENGINE_RESTART_PASSED("engine restart, higher sequence", StreamCounter.RECONNECTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      int before = rig.engine.published().size();
      rig.engine.restart();
      rig.reconnect(before + 3);
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  ENGINE_RESTART_SEEN("engine restart, higher sequence, start time known", StreamCounter.RESTARTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.seeStart();
      int before = rig.engine.published().size();
      rig.engine.restart();
      rig.reconnect(before + 3);
      rig.stream.restarted("the process started at another time");
      rig.seeStart();
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  ROUTER_RESTART("router restart without snapshot", StreamCounter.LOST_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      return rig.routerRestarted();
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  ROUTER_RESTART_SNAPSHOT("router restart with snapshot", Counted.fate()) {
    @Override
    FaultRig strike(FaultRig rig) {
      return rig.routerRestartedFromSnapshot(3);
    }
  },

  ROUTER_RESTART_KNOWN("router restart with snapshot, start time known", Counted.fate()) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.seeStart();
      FaultRig next = rig.routerRestartedFromSnapshot(3);
      next.seeStart();
      return next;
    }
  },

  BOTH_RESTART("router restart with snapshot, engine restarted", Counted.fate()) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.seeStart();
      FaultRig next = rig.routerRestartedFromSnapshot(3, rig.engine::restart);
      next.seeStart();
      return next;
    }
  },

  RANK_ADDED("added rank", StreamCounter.BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      FaultRig added = rig.beside(rig.newEngine());
      added.serve(1);
      return added;
    }

    @Override
    boolean isHarmless() {
      return true;
    }

    @Override
    int trustMoves(FaultRig rig) {
      return 1;
    }
  },

  REPLAY_CUT("lost batch, two incomplete replays", StreamCounter.REPLAY_FAILURES) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.cutReplays = 2;
      rig.lose(4);
      return rig;
    }

    @Override
    boolean needsReplay() {
      return true;
    }
  },

  REPLAY_SILENT("lost batch, no replay for a while", StreamCounter.REPLAY_FAILURES) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.cutReplays = 4;
      rig.lose(1);
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }

    @Override
    boolean needsReplay() {
      return true;
    }
  },

  DUPLICATE_BATCHES("duplicate batches", StreamCounter.DUPLICATES) {
    @Override
    FaultRig strike(FaultRig rig) {
      for (int i = 0; i < 10; i++) {
        rig.serve(1);
        rig.deliver(rig.lastSent());
      }
      return rig;
    }

    @Override
    boolean isHarmless() {
      return true;
    }
  },

  REORDERED("reordered batches", StreamCounter.GAPS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.serveSwapped(10);
      return rig;
    }
  },

  UNREADABLE_EVENT("unreadable removal", StreamCounter.SKIPPED_EVENTS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.serveSpoilt();
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  UNREADABLE_BATCH("unreadable batch", StreamCounter.UNDECODABLE_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.engine.publish(new byte[] {(byte) 0xc1, 1, 2, 3});
      rig.carry();
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  CLEARED_LATE("cache reset, announced late", StreamCounter.CLEARS) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.engine.reset();
      rig.stream.cleared();
      if (rig.known().over() > 0) {
        throw new IllegalStateException("credited after the reset");
      }
      return rig;
    }

    @Override
    boolean isHarmless() {
      return true;
    }
  },

  DUPLICATE_BLOCKS("blocks copied or announced twice", Counted.copies()) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.serveTwice(10);
      return rig;
    }

    @Override
    boolean isHarmless() {
      return true;
    }
  },

  BLOCK_SIZE("changed block size", StreamCounter.BLOCK_SIZE_CHANGES) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.engine.resize();
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  },

  ADAPTERS("changing adapters", StreamCounter.BLOCKS_STORED) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.serveAdapters(60);
      return rig;
    }

    @Override
    boolean isHarmless() {
      return true;
    }
  },

  EXTRA_KEYS("hidden `extra_key` (SGLang), answers with `cached_tokens`", Counted.shortHits()) {
    @Override
    FaultRig strike(FaultRig rig) {
      rig.serveHidden(10);
      rig.serveAnswered(10);
      return rig;
    }

    @Override
    Trust trust(FaultRig rig, boolean replay) {
      return rig.hidesNamespaces() ? Trust.SUSPECT : Trust.EXACT;
    }

    @Override
    int trustMoves(FaultRig rig) {
      return rig.hidesNamespaces() ? 1 : 0;
    }
  },

  HOSTILE("hostile batches", StreamCounter.UNDECODABLE_BATCHES) {
    @Override
    FaultRig strike(FaultRig rig) {
      HostileBatches.all().forEach(rig.engine::publish);
      rig.carry();
      return rig;
    }

    @Override
    Trust trustWithReplay() {
      return Trust.SUSPECT;
    }
  };

  private final String text;
  private final Counted counted;

  Fault(String text, StreamCounter counter) {
    this(text, Counted.by(counter));
  }

  Fault(String text, Counted counted) {
    this.text = text;
    this.counted = counted;
  }

  /** What happens, for the page. */
  String text() {
    return text;
  }

  /** What is sure to be counted. */
  Counted counted() {
    return counted;
  }

  /** Does it to a rig on which all is well; returns the one to go on with. */
  abstract FaultRig strike(FaultRig rig);

  /** Whether trust never changes. */
  boolean isHarmless() {
    return false;
  }

  /** How often trust changes at least. */
  int trustMoves(FaultRig rig) {
    return isHarmless() ? 0 : 1;
  }

  /** Whether it takes a replay socket to happen. */
  boolean needsReplay() {
    return false;
  }

  Trust trustWithReplay() {
    return this == BURST ? Trust.SUSPECT : Trust.EXACT;
  }

  /** How far the engine is believed in the end. */
  Trust trust(FaultRig rig, boolean replay) {
    return isHarmless() || (replay && trustWithReplay() == Trust.EXACT)
        ? Trust.EXACT
        : Trust.SUSPECT;
  }
}
