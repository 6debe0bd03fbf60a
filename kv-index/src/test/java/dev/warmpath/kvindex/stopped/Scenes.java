package dev.warmpath.kvindex.stopped;

import dev.warmpath.kvindex.KvIndex;

/** Scenes in which what the question is about gets another place, and another one takes its own. */
enum Scenes {
  /** Another engine stores the prompt, and another run gets the list that was too short. */
  GROWN_LIST {
    @Override
    Scene of(KvIndex index) {
      return new WrittenScene(index) {
        {
          store(0, at(ASKED), 0, BLOCKS);
        }

        @Override
        public void write() {
          store(1, at(ASKED), 0, BLOCKS);
          store(2, at(OTHER), 100, 120);
        }
      };
    }
  },
  /** An engine drops the prompt, and another run gets the list that was too long. */
  SHRUNK_LIST {
    @Override
    Scene of(KvIndex index) {
      return new WrittenScene(index) {
        {
          store(0, at(ASKED), 0, BLOCKS);
          store(1, at(ASKED), 0, BLOCKS);
          store(2, at(OTHER), 100, 120);
        }

        @Override
        public void write() {
          drop(1, 0, BLOCKS);
          store(3, at(OTHER), 100, 120);
        }
      };
    }
  },
  /** A branch is dropped and stored again, but another run has got its place meanwhile. */
  REPLACED_RUN {
    @Override
    Scene of(KvIndex index) {
      return new WrittenScene(index) {
        {
          store(3, at(ASKED), 0, 5);
          store(3, behind(4), 100, 105);
          store(3, behind(4), 200, 205);
          store(0, at(ASKED), 0, BLOCKS);
        }

        @Override
        public void write() {
          drop(0, 5, BLOCKS);
          store(1, at(OTHER), 100, 120);
          store(0, behind(4), 5, BLOCKS);
        }
      };
    }
  },
  /** The prompt is dropped, and the root of a new space gets the place of its root. */
  REUSED_ROOT {
    @Override
    Scene of(KvIndex index) {
      return new WrittenScene(index) {
        {
          store(0, at(ASKED), 0, BLOCKS);
        }

        @Override
        public void write() {
          drop(0, 0, BLOCKS);
          store(1, at(NEW), 0, BLOCKS);
        }
      };
    }
  },
  /** An engine leaves, and one that computes more again takes its slot and all it held. */
  REUSED_SLOT {
    @Override
    Scene of(KvIndex index) {
      return new WrittenScene(index) {
        {
          store(1, at(ASKED), 0, 10);
        }

        @Override
        public void write() {
          removeEngine(1);
          addEngine(5);
          store(1, at(ASKED), 0, BLOCKS);
        }
      };
    }
  };

  abstract Scene of(KvIndex index);
}
