package dev.warmpath.router.routing;

/**
 * The whole blocks of a prompt, in the name space of one candidate: the first one for which they
 * are known. Prompts share leading blocks as far as their keys are equal.
 */
public interface PromptBlocks {

  /** No blocks, of the size that most engines have. */
  PromptBlocks NONE =
      new PromptBlocks() {
        @Override
        public int count() {
          return 0;
        }

        @Override
        public int blockSizeTokens() {
          return 16;
        }

        @Override
        public long key(int index) {
          throw new IndexOutOfBoundsException(index);
        }
      };

  /** How many there are. */
  int count();

  /** Tokens of a block. */
  int blockSizeTokens();

  /** Names block {@code index} and all before it. */
  long key(int index);
}
