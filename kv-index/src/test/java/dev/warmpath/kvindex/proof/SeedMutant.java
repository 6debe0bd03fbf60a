package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Indexes that are wrong in one way each, as an index made of runs for many engines might be, to
 * show that the seeds would notice.
 */
enum SeedMutant {
  TRUNCATES_EVENTS_AT_64 {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          for (int i = 0; i < Math.min(64, blocks.count()); i++) {
            super.stored(slot, single(blocks, i));
          }
        }
      };
    }
  },
  LOSES_WHAT_FOLLOWS_A_FULL_RUN {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Map<Block, Integer> offsets = new HashMap<>();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          for (int i = 0; i < blocks.count(); i++) {
            StoredBlocks one = single(blocks, i);
            Block block = new Block(slot, one.engineHash(0));
            int before = offsets.getOrDefault(new Block(slot, one.parent()), -1);
            offsets.put(block, one.named() && !one.atRoot() ? before + 1 : 0);
            if (offsets.get(block) != 64) {
              super.stored(slot, one);
            }
          }
        }
      };
    }
  },
  FORGETS_ONE_BLOCK_OF_LONG_REMOVALS {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          RemovedBlocks noticed = new RemovedBlocks().from(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            if (i != 63) {
              noticed.add(blocks.engineHash(i));
            }
          }
          super.removed(slot, noticed);
        }
      };
    }
  },
  LOSES_HOLES {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          RemovedBlocks ends = new RemovedBlocks().from(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            if (!hasChild(slot, blocks.engineHash(i))) {
              ends.add(blocks.engineHash(i));
            }
          }
          super.removed(slot, ends);
        }

        private boolean hasChild(int slot, long hash) {
          return parents.entrySet().stream()
              .anyMatch(child ->
                  child.getValue() == hash
                      && child.getKey().slot() == slot
                      && holds(slot, child.getKey().hash()));
        }
      };
    }
  },
  FORGETS_ALIASES {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          for (int i = 0; i < blocks.count(); i++) {
            Map<Block, Long> before = Map.copyOf(keys);
            super.stored(slot, single(blocks, i));
            Block block = new Block(slot, blocks.engineHash(i));
            Long key = keys.get(block);
            boolean alias =
                before.entrySet().stream()
                    .anyMatch(other ->
                        other.getValue().equals(key)
                            && other.getKey().slot() == slot
                            && !other.getKey().equals(block)
                            && holds(slot, other.getKey().hash()));
            if (alias) {
              index.removed(
                  slot, new RemovedBlocks().from(blocks.tier(), blocks.group()).add(block.hash()));
            }
          }
        }
      };
    }
  },
  ONE_TABLE_OF_HASHES_FOR_ALL_ENGINES {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Map<Long, Long> localHashes = new HashMap<>();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          for (int i = 0; i < blocks.count(); i++) {
            StoredBlocks one = single(blocks, i);
            if (one.named()) {
              long hash = one.engineHash(0);
              long first = localHashes.computeIfAbsent(hash, any -> one.localHash(0));
              if (one.atRoot()) {
                one.atRoot(one.tier(), one.group(), one.parent()).add(hash, first);
              } else {
                one.behind(one.tier(), one.group(), one.parent()).add(hash, first);
              }
            }
            super.stored(slot, one);
          }
        }
      };
    }
  },
  KEEPS_THE_NAMES_OF_A_REUSED_SLOT {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Map<Block, Long> ofLeavers = new HashMap<>();

        @Override
        public void removeEngine(int slot) {
          keys.forEach((block, key) -> {
            if (block.slot() == slot) {
              ofLeavers.put(block, key);
            }
          });
          super.removeEngine(slot);
        }

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          for (int i = 0; i < blocks.count(); i++) {
            StoredBlocks one = single(blocks, i);
            Long parent = ofLeavers.get(new Block(slot, one.parent()));
            if (one.named() && !one.atRoot() && parent != null && !holds(slot, one.parent())) {
              long hash = one.engineHash(0);
              long localHash = one.localHash(0);
              one.atRoot(one.tier(), one.group(), parent).add(hash, localHash);
            }
            super.stored(slot, one);
          }
        }
      };
    }
  },
  SHIFTS_SLOTS_BEYOND_64_BACK {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          if (slot >= 64 && countings.containsKey(slot - 64)) {
            super.stored(slot - 64, blocks);
          }
        }

        @Override
        public void removeEngine(int slot) {
          super.removeEngine(slot);
          countings.remove(slot);
        }
      };
    }
  },
  MIXES_SPACES {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final List<Long> roots = new ArrayList<>();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          StoredBlocks moved = blocks;
          if (blocks.atRoot()) {
            roots.add(blocks.parent());
            moved = new StoredBlocks().atRoot(blocks.tier(), blocks.group(), roots.get(0));
            for (int i = 0; i < blocks.count(); i++) {
              moved.add(blocks.engineHash(i), blocks.localHash(i));
            }
          }
          super.stored(slot, moved);
        }
      };
    }
  },
  CLEARS_HOLDINGS_BUT_NOT_ORPHANS {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Map<Integer, StoredBlocks> waiting = new HashMap<>();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          boolean behind = blocks.named() && !blocks.atRoot();
          if (behind && blocks.count() > 0 && !holds(slot, blocks.parent())) {
            waiting.put(slot, single(blocks, 0));
          }
        }

        @Override
        public void removeEngine(int slot) {
          super.removeEngine(slot);
          waiting.remove(slot);
        }

        @Override
        public void cleared(int slot) {
          super.cleared(slot);
          if (waiting.containsKey(slot)) {
            index.stored(slot, waiting.get(slot));
          }
        }
      };
    }
  },
  KEEPS_COPIES_THROUGH_SUSPENSION {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Map<Copy, Integer> kept = new HashMap<>();

        @Override
        public long suspended(int slot) {
          copies.forEach((copy, count) -> {
            if (copy.slot() == slot) {
              kept.put(copy, count - 1);
            }
          });
          return super.suspended(slot);
        }

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          StoredBlocks more = new StoredBlocks().unnamed(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            Copy copy = new Copy(slot, blocks.tier(), blocks.group(), blocks.engineHash(i));
            for (int count = kept.getOrDefault(copy, 0); count > 0; count--) {
              more.add(copy.hash(), 0);
            }
            kept.remove(copy);
          }
          index.stored(slot, more);
        }

        @Override
        public void cleared(int slot) {
          super.cleared(slot);
          kept.clear();
        }
      };
    }
  },
  PROVES_WHAT_WAS_REMOVED {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Set<Copy> suspended = new HashSet<>();

        @Override
        public long suspended(int slot) {
          copies.keySet().stream().filter(copy -> copy.slot() == slot).forEach(suspended::add);
          return super.suspended(slot);
        }

        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          RemovedBlocks noticed = new RemovedBlocks().from(blocks.tier(), blocks.group());
          for (int i = 0; i < blocks.count(); i++) {
            Copy copy = new Copy(slot, blocks.tier(), blocks.group(), blocks.engineHash(i));
            if (copies.containsKey(copy) || !suspended.contains(copy)) {
              noticed.add(copy.hash());
            }
          }
          super.removed(slot, noticed);
        }
      };
    }
  },
  LETS_SUSPENDED_OUT_OF_SNAPSHOTS {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        private final Set<Integer> suspended = new HashSet<>();

        @Override
        public long suspended(int slot) {
          suspended.add(slot);
          return super.suspended(slot);
        }

        @Override
        public void removeEngine(int slot) {
          suspended.remove(slot);
          super.removeEngine(slot);
        }

        @Override
        void reload() {
          // What is not held again is forgotten.
          suspended.forEach(slot -> {
            Map<Copy, Integer> held = Map.copyOf(copies);
            index.cleared(slot);
            held.forEach((copy, count) -> restore(copy, slot));
          });
        }

        private void restore(Copy copy, int slot) {
          if (copy.slot() == slot) {
            index.stored(
                slot, new StoredBlocks().unnamed(copy.tier(), copy.group()).add(copy.hash(), 0));
          }
        }
      };
    }
  },
  RESTORES_ONE_COPY_OF_EACH {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        void reload() {
          copies.forEach((copy, count) -> {
            for (int i = 1; i < count && isPerCopy(copy); i++) {
              index.removed(
                  copy.slot(),
                  new RemovedBlocks().from(copy.tier(), copy.group()).add(copy.hash()));
            }
          });
          copies.replaceAll((copy, count) -> 1);
        }

        private boolean isPerCopy(Copy copy) {
          return countings.get(copy.slot()) == CopyCounting.PER_COPY;
        }
      };
    }
  },
  RESTORES_ONLY_WHAT_HAS_A_NAME {
    @Override
    Memory of(KvIndex right) {
      return new Memory(right) {
        @Override
        void reload() {
          copies.forEach((copy, count) -> {
            RemovedBlocks lost = new RemovedBlocks().from(copy.tier(), copy.group());
            for (int i = 0; i < count; i++) {
              lost.add(copy.hash());
            }
            if (!keys.containsKey(new Block(copy.slot(), copy.hash()))) {
              index.removed(copy.slot(), lost);
            }
          });
        }
      };
    }
  };

  /** The mutant that this makes of an index that is right. */
  abstract Memory of(KvIndex right);
}
