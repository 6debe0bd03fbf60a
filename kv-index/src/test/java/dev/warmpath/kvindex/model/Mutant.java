package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/** Indexes that are wrong in one way each, to show that the comparison would notice. */
public enum Mutant {
  FORGETS_REMOVALS {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          RemovedBlocks noticed = new RemovedBlocks().from(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            if (blocks.engineHash(i) % 4 != 0) {
              noticed.add(blocks.engineHash(i));
            }
          }
          super.removed(slot, noticed);
        }
      };
    }
  },
  COUNTS_PRESENCE {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public int addEngine(CopyCounting counting) {
          return super.addEngine(CopyCounting.PRESENCE);
        }
      };
    }
  },
  COUNTS_COPIES_OF_EVERYBODY {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public int addEngine(CopyCounting counting) {
          return super.addEngine(CopyCounting.PER_COPY);
        }
      };
    }
  },
  TRUNCATES_BEHIND_HOLES {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final Map<Long, Set<Long>> children = new HashMap<>();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          for (int i = 1; i < blocks.count(); i++) {
            children
                .computeIfAbsent(blocks.engineHash(i - 1), hash -> new HashSet<>())
                .add(blocks.engineHash(i));
          }
        }

        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          super.removed(slot, blocks);
          RemovedBlocks behind = new RemovedBlocks().from(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            Set<Long> own = children.remove(blocks.engineHash(i));
            if (own != null) {
              own.forEach(behind::add);
            }
          }
          if (behind.count() > 0) {
            removed(slot, behind);
          }
        }
      };
    }
  },
  LOOKS_AT_FULL_ATTENTION_ONLY {
    @Override
    KvIndex of(KvIndex right) {
      return withLayout(
          right,
          layout ->
              new CacheLayout(
                  layout.groups().stream()
                      .filter(group -> group.kind() == CacheGroup.Kind.FULL_ATTENTION)
                      .toList(),
                  layout.withheldTokens(),
                  layout.droppedBlocks()));
    }
  },
  CREDITS_WHOLE_PROMPTS {
    @Override
    KvIndex of(KvIndex right) {
      return withLayout(
          right, layout -> new CacheLayout(layout.groups(), 0, layout.droppedBlocks()));
    }
  },
  DROPS_NO_BLOCK {
    @Override
    KvIndex of(KvIndex right) {
      return withLayout(
          right, layout -> new CacheLayout(layout.groups(), layout.withheldTokens(), 0));
    }
  },
  MIXES_TIERS {
    @Override
    KvIndex of(KvIndex right) {
      return withPlaces(right, tier -> StorageTier.GPU, group -> group);
    }
  },
  MIXES_GROUPS {
    @Override
    KvIndex of(KvIndex right) {
      return withPlaces(right, tier -> tier, group -> 0);
    }
  },
  KEEPS_BLOCKS_OF_LEAVERS {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final Set<Integer> left = new HashSet<>();

        @Override
        public int addEngine(CopyCounting counting) {
          int slot = left.stream().min(Integer::compare).orElse(-1);
          return left.remove(slot) ? slot : super.addEngine(counting);
        }

        @Override
        public void removeEngine(int slot) {
          left.add(slot);
        }
      };
    }
  },
  IGNORES_RESETS {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public void cleared(int slot) {}
      };
    }
  },
  LOSES_ORPHANS {
    @Override
    KvIndex of(KvIndex right) {
      return new ReferenceModel(0);
    }
  },
  CREDITS_WHAT_IS_SUSPENDED {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long suspended(int slot) {
          return 0;
        }
      };
    }
  },
  CLEARS_WHAT_IS_SUSPENDED {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long suspended(int slot) {
          cleared(slot);
          return 0;
        }
      };
    }
  },
  PROVES_SIBLINGS {
    @Override
    KvIndex of(KvIndex right) {
      return new SuspensionMutant(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          if (blocks.confirms()) {
            siblings(slot, blocks).forEach(sibling -> right.stored(slot, sibling));
          }
        }
      };
    }
  },
  PROVES_ONE_BLOCK_TOO_MANY {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long confirmed(
            int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
          return super.confirmed(slot, tier, group, prompt, blocks + 1);
        }
      };
    }
  },
  PROVES_OTHER_TIERS {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long confirmed(
            int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
          for (StorageTier other : StorageTier.values()) {
            super.confirmed(slot, other, group, prompt, blocks);
          }
          return 0;
        }
      };
    }
  },
  CREDITS_WHAT_IS_COMPUTED {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long computed(int slot, StoredBlocks names) {
          stored(slot, names);
          return 0;
        }
      };
    }
  },
  FORGETS_WHAT_IS_COMPUTED {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public long computed(int slot, StoredBlocks names) {
          return 0;
        }
      };
    }
  },
  FORGETS_WHAT_IS_JOINED {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public int joined(
            int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
          return super.joined(slot, namer, tier, group, hashes.clone(), 0);
        }
      };
    }
  },
  COUNTS_WHAT_IS_SAID_AGAIN {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, moved(blocks, blocks.tier(), blocks.group()));
        }
      };
    }
  },
  COUNTS_THE_STORE_OF_WHAT_WAS_SEEN {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final Set<Integer> seen = new HashSet<>();

        @Override
        public long confirmed(
            int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
          seen.add(slot);
          return super.confirmed(slot, tier, group, prompt, blocks);
        }

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          if (seen.remove(slot)) {
            super.stored(slot, blocks);
          }
        }
      };
    }
  },
  LOSES_BLOCKS_WITHOUT_NAME {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          if (blocks.named()) {
            super.stored(slot, blocks);
          }
        }
      };
    }
  };

  /** The mutant that this makes of an index that is right. */
  abstract KvIndex of(KvIndex right);

  private static KvIndex withLayout(KvIndex right, UnaryOperator<CacheLayout> change) {
    return new ForwardingIndex(right) {
      @Override
      public void layout(int slot, CacheLayout layout) {
        super.layout(slot, change.apply(layout));
      }
    };
  }

  private static KvIndex withPlaces(
      KvIndex right, UnaryOperator<StorageTier> tiers, IntUnaryOperator groups) {
    return new ForwardingIndex(right) {
      @Override
      public void stored(int slot, StoredBlocks blocks) {
        super.stored(
            slot, moved(blocks, tiers.apply(blocks.tier()), groups.applyAsInt(blocks.group())));
      }

      @Override
      public void removed(int slot, RemovedBlocks blocks) {
        RemovedBlocks moved = new RemovedBlocks();
        moved.from(tiers.apply(blocks.tier()), groups.applyAsInt(blocks.group()));
        for (int i = 0; i < blocks.count(); i++) {
          moved.add(blocks.engineHash(i));
        }
        super.removed(slot, moved);
      }
    };
  }

  private static StoredBlocks moved(StoredBlocks blocks, StorageTier tier, int group) {
    StoredBlocks moved = new StoredBlocks();
    if (!blocks.named()) {
      moved.unnamed(tier, group);
    } else if (blocks.atRoot()) {
      moved.atRoot(tier, group, blocks.parent());
    } else {
      moved.behind(tier, group, blocks.parent());
    }
    for (int i = 0; i < blocks.count(); i++) {
      moved.add(blocks.engineHash(i), blocks.localHash(i));
    }
    return moved;
  }
}
