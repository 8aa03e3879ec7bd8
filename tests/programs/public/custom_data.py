"""Data of one's own: a dataset with transforms, padding in collate_fn, workers, samplers and splits."""

import random

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)


class Points(Dataset):
    """Each item is a dict, as in the data loading tutorial."""

    def __init__(self, count, transform=None):
        rng = np.random.RandomState(0)
        self.landmarks = rng.rand(count, 4, 2)
        self.transform = transform

    def __len__(self):
        return len(self.landmarks)

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        sample = {"name": f"face_{idx}", "landmarks": self.landmarks[idx], "size": (idx, float(idx))}
        if self.transform:
            sample = self.transform(sample)
        return sample


class Rescale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, sample):
        return {**sample, "landmarks": sample["landmarks"] * self.factor}


class ToTensor:
    def __call__(self, sample):
        return {**sample, "landmarks": torch.from_numpy(sample["landmarks"]).float()}


class Jitter:
    """Draws from torch's, NumPy's and Python's generators, as augmentations do."""

    def __call__(self, sample):
        noise = torch.rand(1).item() + random.random()
        return {**sample, "landmarks": sample["landmarks"] + noise}


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class Stream(IterableDataset):
    def __init__(self, end):
        self.end = end

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        yield from range(first, self.end, step)


class Sentences(Dataset):
    texts = ["a b c", "d", "e f", "g h i j", "k l"]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return torch.tensor([ord(word) - 96 for word in self.texts[index].split()]), index % 2


def pad(batch):
    sequences, labels = zip(*batch)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return pad_sequence(sequences, batch_first=True), lengths, torch.tensor(labels)


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def main():
    torch.manual_seed(7)
    faces = Points(10, Compose([Rescale(2), ToTensor(), Jitter()]))
    g = torch.Generator()
    g.manual_seed(0)
    random.seed(5)
    for workers in (0, 2):
        loader = DataLoader(
            faces, batch_size=4, shuffle=True, num_workers=workers, worker_init_fn=seed_worker, generator=g
        )
        for i_batch, sample_batched in enumerate(loader):
            print(i_batch, sample_batched["landmarks"].size(), sample_batched["name"], sample_batched["size"])
            print(sample_batched["landmarks"].mean(dim=(1, 2)))

    for batch in DataLoader(Sentences(), batch_size=2, collate_fn=pad):
        print(*batch)

    train, valid, test = random_split(range(20), [0.5, 0.3, 0.2], generator=torch.Generator().manual_seed(42))
    print(list(train), list(valid), list(test), type(train).__name__)
    print(list(BatchSampler(SequentialSampler(range(7)), batch_size=3, drop_last=True)))
    print(list(RandomSampler(range(6), generator=torch.Generator().manual_seed(1))))
    print(list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 8, replacement=True)))
    print(list(WeightedRandomSampler([0.9, 0.4, 0.05, 0.2, 0.3, 0.1], 5, replacement=False)))

    a = TensorDataset(torch.arange(6).view(3, 2), torch.tensor([0, 1, 0]))
    b = TensorDataset(torch.arange(6, 10).view(2, 2), torch.tensor([1, 1]))
    both = ConcatDataset([a, b])
    print(len(both), both[3], both[-1], Subset(both, [4, 0])[0])
    for xs, ys in DataLoader(both, batch_size=3, drop_last=False, pin_memory=False):
        print(xs.tolist(), ys.tolist())

    print(sorted(int(n) for n in DataLoader(Stream(9), batch_size=None, num_workers=2)))
    print([batch.tolist() for batch in DataLoader(Stream(9), batch_size=4)])
    loader = DataLoader(both, batch_size=2, num_workers=1, persistent_workers=True, prefetch_factor=4)
    print(len(loader), [[len(xs) for xs, _ in loader] for _ in range(3)])


if __name__ == "__main__":
    main()
